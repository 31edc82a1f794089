import { type Adapter, type AdapterFactory, type ClientMetadata, errors } from 'oidc-provider'
import type { OAuthClient, OAuthClients } from './clients.ts'
import type { OAuthPayloads } from './payloads.ts'

/** Returns the storage of oidc-provider: its payloads and the clients, in the gateway's store. */
export const adapterOf =
  (payloads: OAuthPayloads, clients: Pick<OAuthClients, 'find'>): AdapterFactory =>
  (model) =>
    model === 'Client' ? clientAdapter(clients) : payloadAdapter(payloads, model)

const payloadAdapter = (payloads: OAuthPayloads, model: string): Adapter => ({
  upsert: (id, payload, seconds) => {
    // Every payload of oidc-provider must have an end.
    if (seconds === undefined) throw new Error(`${model} has no end`)
    return payloads.save(model, id, payload, seconds)
  },
  find: (id) => payloads.find(model, id),
  findByUid: (uid) => payloads.findByUid(model, uid),
  // Used by the device flow only, which is off.
  findByUserCode: async () => undefined,
  consume: async (id) => {
    if (!(await payloads.consume(model, id))) throw new errors.InvalidGrant('already used')
  },
  destroy: (id) => payloads.remove(model, id),
  revokeByGrantId: (grantId) => payloads.revokeGrant(grantId),
})

const clientAdapter = (clients: Pick<OAuthClients, 'find'>): Adapter => {
  const nothing = async () => undefined
  return {
    find: async (id) => {
      const client = await clients.find(id)
      return client && metadataOf(client)
    },
    // Only the gateway's own API creates and removes clients.
    upsert: nothing,
    findByUid: nothing,
    findByUserCode: nothing,
    consume: nothing,
    destroy: nothing,
    revokeByGrantId: nothing,
  }
}

/**
 * Returns a client in the form of oidc-provider (RFC 7591 section 2). Its secret is replaced by the hash,
 * which `compareClientSecret` expects.
 */
export const metadataOf = (client: OAuthClient): ClientMetadata => ({
  client_id: client.id,
  client_name: client.name,
  application_type: client.native ? 'native' : 'web',
  redirect_uris: [...client.redirectUris],
  post_logout_redirect_uris: [...client.redirectUris],
  response_types: ['code'],
  response_modes: ['query'],
  grant_types: ['authorization_code', 'refresh_token'],
  scope: client.scopes.join(' '),
  token_endpoint_auth_method: client.secretHash === undefined ? 'none' : 'client_secret_post',
  ...(client.secretHash !== undefined && { client_secret: client.secretHash }),
  project_id: client.projectId,
})
