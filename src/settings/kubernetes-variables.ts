/**
 * Returns whether Kubernetes may set a variable of this name. It sets such variables in every container for each Service of the namespace,
 * so a Service named `postern` produces POSTERN_ variables that are not settings.
 */
export const isKubernetesVariable = (name: string) =>
  /_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name);

/** Returns the environment without the addresses of Services: one named `postern-admin` sets POSTERN_ADMIN_PORT to `tcp://…`. */
export const removeServiceAddresses = (environment: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => !(isKubernetesVariable(name) && /^(tcp|udp|sctp):\/\//.test(value ?? ''))),
  );
