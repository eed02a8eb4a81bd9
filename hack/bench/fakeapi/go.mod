module fakeapi

go 1.24
