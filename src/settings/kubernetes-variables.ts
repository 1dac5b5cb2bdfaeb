/**
 * Variables that Kubernetes sets in every container for each Service of the namespace. If a Service is named `postern`, they begin with
 * POSTERN_. The values must match, too: a misspelled setting such as POSTERN_ADMN_PORT=9090 is not such a variable.
 */
const serviceVariables: readonly { readonly name: RegExp; readonly value: RegExp }[] = [
  { name: /_PORT(_\d+_(TCP|UDP|SCTP))?$/, value: /^(tcp|udp|sctp):\/\// },
  { name: /_PORT_\d+_(TCP|UDP|SCTP)_PROTO$/, value: /^(tcp|udp|sctp)$/ },
  { name: /_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)_PORT$/, value: /^\d+$/ },
  { name: /_SERVICE_HOST$|_PORT_\d+_(TCP|UDP|SCTP)_ADDR$/, value: /^[\da-f.:]+$/i },
];

const isServiceVariable = (name: string, value: string) =>
  serviceVariables.some((variable) => variable.name.test(name) && variable.value.test(value));

/** Returns the environment without the variables of Services: a Service named `postern-admin` sets POSTERN_ADMIN_PORT to `tcp://…`. */
export const removeServiceVariables = (environment: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(environment).filter(([name, value]) => !isServiceVariable(name, value ?? '')));
