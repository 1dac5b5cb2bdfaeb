/**
 * The provider cannot be used now, for example because it cannot be reached, answers with an error status or sends too much, or because
 * Postern has too many such requests. An OpenID provider can also report this with an error that the browser brings back.
 */
export class ProviderUnavailable extends Error {}

/** The provider has refused a request, or what it has sent failed a check. The message is for the operator. */
export class ProviderRefused extends Error {}

/**
 * What the browser has brought back from the provider is refused: an error or a wrong code of an OpenID provider, or an invalid SAML
 * response. This error is also thrown if an OpenID provider refuses a refresh token.
 */
export class ResponseRefused extends ProviderRefused {}

/** The response of the provider failed a check, or violates the protocol. This says nothing about the user. */
export class ResponseInvalid extends ProviderRefused {}
