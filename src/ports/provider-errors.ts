/**
 * The provider cannot be used now: it cannot be reached, does not respond in time, answers with an error status, or sends too much. Or the
 * browser has brought back an error that means this.
 */
export class ProviderUnavailable extends Error {}

/** The provider has refused a request, or what it has sent failed a check. The message is for the operator. */
export class ProviderRefused extends Error {}

/**
 * What the browser has brought back from the provider is refused: an error or a wrong code of an OpenID provider, or an invalid SAML
 * response. Also a refresh token that an OpenID provider refuses.
 */
export class ResponseRefused extends ProviderRefused {}

/** The response of the provider failed a check, or violates the protocol. This says nothing about the user. */
export class ResponseInvalid extends ProviderRefused {}
