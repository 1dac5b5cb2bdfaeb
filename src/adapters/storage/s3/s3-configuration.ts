/** Where the files of a location are, and with which credentials Postern reads and writes them. */
export interface S3Configuration {
  /** URL of the service. Default: AWS. */
  readonly endpoint?: string;
  readonly region: string;
  readonly bucket: string;
  /** Beginning of the keys of the location, such as `reports/2026`: the root of the location. */
  readonly prefix?: string;
  /** true: the bucket is the first part of the path, not of the host name. */
  readonly pathStyle?: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}
