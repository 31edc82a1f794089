import { redirectUriFault } from '../../../config/rules/redirect-uris.ts'
import type { OAuthClient, OAuthClients } from '../../auth/oauth/clients.ts'
import { pageOf, pageQuery } from '../requests/paging.ts'
import type { RequireProject } from '../requests/principal.ts'
import type { TypedSite } from '../requests/typed-routes.ts'
import { CollectionRoutes } from './shared/collection-routes.ts'
import { badField, withoutUndefined } from './shared/field-schemas.ts'
import { forProjects, idParams } from './shared/route-schemas.ts'

/** Collaborators of the routes of OAuth clients. */
export interface OAuthClientDeps {
  readonly oauthClients: OAuthClients
  readonly requireProject: RequireProject
}

const path = '/api/oauth_clients'

const fields = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    description: 'Name on the sign-in page.',
  },
  redirect_uris: {
    type: 'array',
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    items: { type: 'string', minLength: 1, maxLength: 2048 },
    description: 'Redirect URIs, each exactly as the application sends it.',
  },
  native: { type: 'boolean', description: 'Whether the client is a native application (RFC 8252).' },
} as const

const properties = {
  id: { type: 'string', description: 'Id of the client (client_id).' },
  project_id: { type: 'string' },
  name: { type: 'string' },
  redirect_uris: { type: 'array', items: { type: 'string' } },
  native: { type: 'boolean' },
  confidential: { type: 'boolean', description: 'Whether the client has a secret.' },
  managed_by: { type: 'string', enum: ['file', 'api'] },
  created_at: { type: 'string' },
  updated_at: { type: 'string' },
} as const

const schema = { type: 'object', required: Object.keys(properties), properties }
const secret = {
  type: 'string',
  description: 'Secret of the client (client_secret), which is shown once.',
} as const
const schemaWithSecret = { ...schema, properties: { ...properties, secret } }

const createBody = {
  type: 'object',
  required: ['name', 'redirect_uris'],
  additionalProperties: false,
  properties: {
    ...fields,
    confidential: { type: 'boolean', default: false, description: 'Whether the client gets a secret.' },
  },
} as const

const changeBody = { type: 'object', additionalProperties: false, properties: fields } as const

const describe = (id: string, summary: string) => forProjects('OAuth clients', id, summary)

/** OAuth clients of a project. */
export const oauthClientRoutes = (
  site: TypedSite,
  { oauthClients, requireProject }: OAuthClientDeps,
): void => {
  const onRequest = requireProject('resources')
  const routes = new CollectionRoutes<OAuthClient>(site, { path, onRequest, schema, show: clientBody })
  routes.list(describe('list_oauth_clients', 'List the OAuth clients'), pageQuery, ({ projectId, query }) =>
    oauthClients.list(projectId, pageOf(query)),
  )
  routes.read(describe('get_oauth_client', 'Get an OAuth client'), ({ projectId, params }) =>
    oauthClients.get(projectId, params.id),
  )
  routes.createWithSecret(
    describe('create_oauth_client', 'Create an OAuth client; its secret is shown once'),
    createBody,
    schemaWithSecret,
    async ({ projectId, body }) => {
      const { name, redirect_uris: redirectUris, native = false } = body
      checkUris(redirectUris, native)
      const terms = { name, redirectUris, native }
      const { client, secret } = await oauthClients.create(projectId, terms, body.confidential)
      return withoutUndefined({ ...clientBody(client), secret })
    },
  )
  routes.update(
    (verb) => describe(`${verb}_oauth_client`, 'Change an OAuth client; omitted fields keep their values'),
    changeBody,
    async ({ projectId, params, body }) => {
      const client = await oauthClients.get(projectId, params.id)
      const native = body.native ?? client.native
      checkUris(body.redirect_uris ?? client.redirectUris, native)
      const { name, redirect_uris: redirectUris } = body
      return oauthClients.update(projectId, params.id, withoutUndefined({ name, redirectUris, native }))
    },
  )
  secretRoute(site, { oauthClients, requireProject })
  routes.remove(
    describe('delete_oauth_client', 'Delete an OAuth client; users can no longer sign in to it'),
    ({ projectId, params }) => oauthClients.remove(projectId, params.id),
  )
}

const secretRoute = (site: TypedSite, { oauthClients, requireProject }: OAuthClientDeps): void => {
  const schema = {
    ...describe(
      'renew_oauth_client_secret',
      'Replace the secret of a confidential client; the new one is shown once',
    ),
    params: idParams,
    response: { 201: { type: 'object', required: ['secret'], properties: { secret } } },
  }
  const onRequest = requireProject('resources')
  site.post(`${path}/:id/secret`, { onRequest, schema }, async ({ projectId, params }, reply) => {
    const renewed = await oauthClients.renewSecret(projectId, params.id)
    return reply.code(201).header('cache-control', 'no-store').send({ secret: renewed })
  })
}

const checkUris = (uris: readonly string[], native: boolean): void => {
  uris.forEach((uri, i) => {
    const fault = redirectUriFault(uri, native)
    if (fault) throw badField(`redirect_uris.${i}`, `redirect_uris.${i} ${fault}.`)
  })
}

const clientBody = (client: OAuthClient) => ({
  id: client.id,
  project_id: client.projectId,
  name: client.name,
  redirect_uris: client.redirectUris,
  native: client.native,
  confidential: client.secretHash !== undefined,
  managed_by: client.managedByFile ? 'file' : 'api',
  created_at: new Date(client.createdAt).toISOString(),
  updated_at: new Date(client.updatedAt).toISOString(),
})
