module fakeapi

go 1.25
