#include "rbacgen/emit/crd/proto_files.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "manager/core/read_file.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::SourceLocation;
using google::protobuf::compiler::DiskSourceTree;

namespace {

// Why the file must not be read: it is a special file or too long. Empty if it may be read, or does
// not exist.
std::string WhyNot(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "";
  const absl::StatusOr<int> file = OpenForReading(path);
  if (absl::IsInvalidArgument(file.status())) return std::string(file.status().message());
  if (file.ok()) close(*file);
  const auto size = std::filesystem::file_size(path, error);
  return !error && size > kMaxFileBytes ? StrCat("it has more than ", kMaxFileBytes, " bytes") : "";
}

}  // namespace

class ProtoFiles::Errors : public google::protobuf::compiler::MultiFileErrorCollector {
 public:
  explicit Errors(ProtoFiles* files) : files_(files) {}

  // protoc counts lines from 0; -1 means the file.
  void AddError(const std::string& file, int line, int, const std::string& message) override {
    const Place place = {files_->DiskFile(file), line + 1};
    if (files_->tree_.Unreadable(file).empty()) {
      files_->diagnostics_->Error(place, message);
    } else {
      files_->diagnostics_->Unreadable(place, message);
    }
  }

 private:
  ProtoFiles* const files_;
};

ProtoFiles::Tree::Tree(std::vector<std::string> folders) : folders_(std::move(folders)) {
  for (const std::string& folder : folders_) MapPath("", folder);
}

google::protobuf::io::ZeroCopyInputStream* ProtoFiles::Tree::Open(const std::string& name) {
  const std::string unreadable = Unreadable(name);
  why_ = WhyNot(unreadable);
  return unreadable.empty() ? DiskSourceTree::Open(name) : nullptr;
}

std::string ProtoFiles::Tree::Unreadable(const std::string& name) const {
  for (const std::string& folder : folders_) {
    const auto path = (std::filesystem::path(folder) / name).lexically_normal();
    if (!WhyNot(path.string()).empty()) return path.string();
  }
  return "";
}

std::string ProtoFiles::Tree::GetLastErrorMessage() {
  return why_.empty() ? DiskSourceTree::GetLastErrorMessage() : StrCat("cannot read it: ", why_);
}

// Finds only these two files: Kubernetes' files may be part of the program too, but without
// comments.
bool ProtoFiles::BuiltIn::FindFileByName(const std::string& name, FileDescriptorProto* output) {
  return (name == "api/mandate/options.proto" || name == "google/protobuf/descriptor.proto") &&
         DescriptorPoolDatabase::FindFileByName(name, output);
}

namespace {

template <class T>
std::string CommentOf(const T& declaration) {
  SourceLocation location;
  return declaration.GetSourceLocation(&location) ? location.leading_comments : std::string();
}

template <class T>
int LineOf(const T& declaration) {
  SourceLocation location;
  return declaration.GetSourceLocation(&location) ? location.start_line + 1 : 0;
}

// The path of a message in its file, as SourceCodeInfo has it.
std::vector<int> PathOf(const Descriptor& message) {
  if (message.containing_type() == nullptr) {
    return {FileDescriptorProto::kMessageTypeFieldNumber, message.index()};
  }
  std::vector<int> path = PathOf(*message.containing_type());
  path.push_back(DescriptorProto::kNestedTypeFieldNumber);
  path.push_back(message.index());
  return path;
}

}  // namespace

ProtoFiles::ProtoFiles(const std::vector<std::string>& folders, Diagnostics* diagnostics)
    : diagnostics_(diagnostics),
      tree_(folders),
      built_in_(*DescriptorPool::generated_pool()),
      database_(&tree_, &built_in_),
      errors_(std::make_unique<Errors>(this)),
      pool_(&database_, database_.GetValidationErrorCollector()) {
  database_.RecordErrorsTo(errors_.get());
}

ProtoFiles::~ProtoFiles() = default;

const FileDescriptor* ProtoFiles::Load(const std::string& path) {
  if (const std::string why = WhyNot(path); !why.empty()) {
    diagnostics_->Unreadable({path}, StrCat("cannot read it: ", why));
    return nullptr;
  }
  std::string name;
  std::string shadowing;
  const auto found = tree_.DiskFileToVirtualFile(path, &name, &shadowing);
  if (found == DiskSourceTree::SUCCESS) return pool_.FindFileByName(name);
  std::string why = "is not below any --proto-path: add the root folder of its imports";
  if (found == DiskSourceTree::SHADOWED) {
    why = StrCat("an import of ", name, " finds ", shadowing,
                 " first: put the --proto-path of this file before it");
  } else if (found == DiskSourceTree::CANNOT_OPEN) {
    why = "cannot be read: it does not exist, or you may not read it";
  }
  diagnostics_->Error({path}, why);
  return nullptr;
}

std::string ProtoFiles::DiskFile(const std::string& name) const {
  std::string path = tree_.Unreadable(name);
  if (!path.empty()) return path;
  // VirtualFileToDiskFile() opens the file. It does not change the tree, but is not const.
  return const_cast<Tree&>(tree_).VirtualFileToDiskFile(name, &path) ? path : name;
}

Place ProtoFiles::PlaceOf(const Descriptor& message) const {
  return {DiskFile(message.file()->name()), LineOf(message)};
}

Place ProtoFiles::PlaceOf(const FieldDescriptor& field) const {
  return {DiskFile(field.file()->name()), LineOf(field)};
}

Place ProtoFiles::PlaceOfOption(const Descriptor& message, int number) const {
  std::vector<int> path = PathOf(message);
  path.push_back(DescriptorProto::kOptionsFieldNumber);
  path.push_back(number);
  return PlaceOfPath(*message.file(), path, PlaceOf(message));
}

Place ProtoFiles::PlaceOfOption(const FieldDescriptor& field, int number) const {
  std::vector<int> path = PathOf(*field.containing_type());
  path.push_back(DescriptorProto::kFieldFieldNumber);
  path.push_back(field.index());
  path.push_back(FieldDescriptorProto::kOptionsFieldNumber);
  path.push_back(number);
  return PlaceOfPath(*field.file(), path, PlaceOf(field));
}

Place ProtoFiles::PlaceOfPath(const FileDescriptor& file, const std::vector<int>& path,
                              Place otherwise) const {
  SourceLocation location;
  if (file.GetSourceLocation(path, &location)) otherwise.line = location.start_line + 1;
  return otherwise;
}

std::string LeadingComment(const Descriptor& message) { return CommentOf(message); }
std::string LeadingComment(const FieldDescriptor& field) { return CommentOf(field); }

}  // namespace mandate::rbacgen
