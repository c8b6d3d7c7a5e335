/**
 * A self-signed certificate for the name api.test, and its key, valid for a hundred years and only for tests. It was made with `openssl req -x509
 * -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=api.test -addext subjectAltName=DNS:api.test`.
 */
export const apiCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIFSPdDR9Ah4Rjxvm
Z6bGNb2ARxGgAJumv8aMx4ce2kihRANCAASomNEfEjZxOwV7de+qgZPjRVstMn6M
Zo+fOS5KPae0jqG9H/zBThaTG2uCFnjWh4xsVM+HwXIxggNaKll5+HpQ
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBkjCCATigAwIBAgIUHSZWpce9c4+Go0lZGrnmTLPx1TEwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIYXBpLnRlc3QwIBcNMjYxMTIyMTM1NzIzWhgPMjEyNjEwMjkx
MzU3MjNaMBMxETAPBgNVBAMMCGFwaS50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEqJjRHxI2cTsFe3XvqoGT40VbLTJ+jGaPnzkuSj2ntI6hvR/8wU4Wkxtr
ghZ41oeMbFTPh8FyMYIDWipZefh6UKNoMGYwHQYDVR0OBBYEFFyiaEdCJvLxUcfE
TLCUhEv3cDCaMB8GA1UdIwQYMBaAFFyiaEdCJvLxUcfETLCUhEv3cDCaMA8GA1Ud
EwEB/wQFMAMBAf8wEwYDVR0RBAwwCoIIYXBpLnRlc3QwCgYIKoZIzj0EAwIDSAAw
RQIhALQCdlUOJP+Awp0dAshig+i7LQKiUYI/+NVTakrthgn4AiAf64HsZD+bawOD
O80qMfDGDYAD1CyYZGTNhRKwTtfvTg==
-----END CERTIFICATE-----
`,
};
