/** In a file of its own in the bundle: only a server that gets JWTs, or has a provider, loads it. */
export { jwtVerify, SignJWT } from 'jose'
export {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client'
