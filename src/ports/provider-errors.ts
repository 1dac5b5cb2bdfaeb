/** The provider does not respond, or not with what the protocol demands. */
export class ProviderUnavailable extends Error {}

/** The provider has refused the sign-in, or its response failed a check. The message is for the operator. */
export class ProviderRefused extends Error {}

/** The provider has refused what the browser has brought back: it has sent an error with the browser, or does not know the code. */
export class ResponseRefused extends ProviderRefused {}

/** The response of the provider failed a check, or is not what the protocol demands. It says nothing about the user. */
export class ResponseFaulty extends ProviderRefused {}
