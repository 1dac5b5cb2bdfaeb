/** A certificate with a key of the curve P-256, valid for a century, as a PKCS #12 file in base64. */
export const certificateFile = [
  'MIIELAIBAzCCA+IGCSqGSIb3DQEHAaCCA9MEggPPMIIDyzCCAoIGCSqGSIb3DQEHBqCCAnMwggJvAgEAMIICaAYJKoZIhvcNAQcBMFcGCSqGSIb3DQEFDTBK',
  'MCkGCSqGSIb3DQEFDDAcBAhkHEUAm23ArgICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEDWSq2ZLdBCuobGqoGkkJl6AggIA/4mzemMi+Y5qt0dV',
  '2GUZ/0kOxBSVykqYBFmguXtX578S8OOu7LsJb/Q3jL+XiQbX651M9bnsEO6oOR2TlX+2CLkrC7Gv4lxw9g8pBajPPjSImG/bj2akdi0MMAGJYWEpIOQ5/g4m',
  'UsU/pl8wGypnsPenLpewuzuZpbXkV0tqKbY++EjN+JEaaI1eAwZAfoxezJfQkFiEDb+beSEwsZFmK3ckt1mYMhXKJC2aI+FG6DOL4zYl2KXziO93KoGso7wq',
  'TqQtS1toK2QQmGYgCITz6Hy0WvDUZWVXnON47Rp7dRD97F4aF2q18pYtiLt8w+2K/VgLHgvIqsJPDbbRa261oQwMBhFqmj7uzCCfvrMbMRlgwWuQcdarPz5N',
  'daURf4EqVMv4KwIDvxvvF4TFbm2BTRxvosko8U6i4ENE6GG/WizOUM32pqPQorsYGkg7ANG0f6jPYH8p++Lfi0sxoCXx0I3QuW2hm/+D3f4yp0AM8YiDx99V',
  'Zs+3eGEcBHDB/ILz3AOru3Ohqkf9hJeY92PKtXaDmH2THGji5pRpD8hvrhCCsTiidloYVoL9G6NZX1E9hiixxpHgR3fSFUvhMtYuiUmSsBu+JyM1wL5ppXbD',
  'br7k8baaGJxReB9v3O3h/Ujw3XUNHi6uYzpNeZU308pjjuOQooygEwsk4VayE+MccCYwggFBBgkqhkiG9w0BBwGgggEyBIIBLjCCASowggEmBgsqhkiG9w0B',
  'DAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIi8g8CERhna0CAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBCAO+sIcmNY',
  'he8FZuaDi5a3BIGQENzERPB7gGk2nOgs7sDI2o4wRdk3bcOc4NZTStsfuyYL0Z9CuIDyQEhSG4bcEavPa5BinmtzQZGTm56ic96lZM5R/2mCs5F5S/6qNXNg',
  '3W2nIyxrm4NTaB8zjGIrV0ttWw3jjVFUMII7sxQl504emcS4X+Yq2cvvoKhFLC8wcYh7pGTxJIhwlHFbFf+0qJ62MSUwIwYJKoZIhvcNAQkVMRYEFEKyoCG7',
  'D64cLWtU8HrxWPhZf/ebMEEwMTANBglghkgBZQMEAgEFAAQgHATBwtCENDvyHAp2Lsyncfb9KYpBH0kf1j866eL4gAoECPZ2jf1bi83nAgIIAA==',
].join('');

/** The password of `certificateFile`. */
export const certificatePassword = 'a password of a file';
