// .proto sources, parsed with their comments and options.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "google/protobuf/compiler/importer.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor_database.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Owns the descriptors that it returns. Not thread-safe.
//
// Searches imports in the folders, in their order, then in the files that are built into this
// program: api/mandate/options.proto and google/protobuf/descriptor.proto.
class ProtoFiles {
 public:
  // `diagnostics` outlives this.
  ProtoFiles(const std::vector<std::string>& folders, Diagnostics* diagnostics);
  ~ProtoFiles();
  ProtoFiles(const ProtoFiles&) = delete;
  ProtoFiles& operator=(const ProtoFiles&) = delete;

  // Loads a file below one of the folders. Null, after a diagnostic, if it cannot be read or
  // parsed, or if an import is missing.
  const google::protobuf::FileDescriptor* Load(const std::string& path);

  // The place of the declaration.
  Place PlaceOf(const google::protobuf::Descriptor& message) const;
  Place PlaceOf(const google::protobuf::FieldDescriptor& field) const;
  // The place of the declaration's option with that number.
  Place PlaceOfOption(const google::protobuf::Descriptor& message, int number) const;
  Place PlaceOfOption(const google::protobuf::FieldDescriptor& field, int number) const;

 private:
  class Errors;
  // Opens only files that ReadWholeFile() would read.
  class Tree : public google::protobuf::compiler::DiskSourceTree {
   public:
    explicit Tree(std::vector<std::string> folders);
    google::protobuf::io::ZeroCopyInputStream* Open(const std::string& name) override;
    std::string GetLastErrorMessage() override;
    // The first file with this name that must not be read; empty if there is none.
    std::string Unreadable(const std::string& name) const;

   private:
    const std::vector<std::string> folders_;
    std::string why_;
  };
  class BuiltIn : public google::protobuf::DescriptorPoolDatabase {
   public:
    using DescriptorPoolDatabase::DescriptorPoolDatabase;
    bool FindFileByName(const std::string& name,
                        google::protobuf::FileDescriptorProto* output) override;
  };

  std::string DiskFile(const std::string& name) const;
  Place PlaceOfPath(const google::protobuf::FileDescriptor& file, const std::vector<int>& path,
                    Place otherwise) const;

  Diagnostics* const diagnostics_;
  Tree tree_;
  BuiltIn built_in_;
  google::protobuf::compiler::SourceTreeDescriptorDatabase database_;
  std::unique_ptr<Errors> errors_;
  google::protobuf::DescriptorPool pool_;
};

// The comment above a declaration, as protoc keeps it; "" if it has none.
std::string LeadingComment(const google::protobuf::Descriptor& message);
std::string LeadingComment(const google::protobuf::FieldDescriptor& field);

}  // namespace mandate::rbacgen
