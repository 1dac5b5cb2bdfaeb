/**
 * Kubernetes sets such variables in every container for each Service of the namespace: one named `postern` is meant for
 * nobody here.
 */
export const isOfKubernetes = (name: string) =>
  /_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name);

/** A Service named `postern-admin` sets POSTERN_ADMIN_PORT to its address: that is no port of ours. */
export const withoutServices = (environment: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => !(isOfKubernetes(name) && /^(tcp|udp|sctp):\/\//.test(value ?? ''))),
  );
