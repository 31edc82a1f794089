import type { FastifyInstance } from 'fastify'
import { redirectUriFault } from '../../../config/rules/redirect-uris.ts'
import type { OAuthClient, OAuthClients, OAuthClientTerms } from '../../auth/oauth/clients.ts'
import { listBody, pageOf, pagingQuery } from '../requests/paging.ts'
import type { RequireProject } from '../requests/principal.ts'
import { badField } from './shared/field-schemas.ts'
import { emptyBody, forProjects, idParams, listSchema } from './shared/route-schemas.ts'

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
    description: 'The sign-in page shows it.',
  },
  redirect_uris: {
    type: 'array',
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    items: { type: 'string', minLength: 1, maxLength: 2048 },
    description: 'Where subscribers return to; each is compared as it stands.',
  },
  native: { type: 'boolean', description: 'Installed on a device (RFC 8252).' },
} as const

const shown = {
  id: { type: 'string', description: 'The client_id.' },
  project_id: { type: 'string' },
  name: { type: 'string' },
  redirect_uris: { type: 'array', items: { type: 'string' } },
  native: { type: 'boolean' },
  confidential: { type: 'boolean', description: 'It has a secret.' },
  managed_by: { type: 'string', enum: ['file', 'api'] },
  created_at: { type: 'string' },
  updated_at: { type: 'string' },
} as const

const clientSchema = { type: 'object', required: Object.keys(shown), properties: shown }
const secret = { type: 'string', description: 'The client_secret; it is shown this once.' } as const
const madeSchema = { ...clientSchema, properties: { ...shown, secret } }

const describe = (id: string, summary: string) => forProjects('OAuth clients', id, summary)

interface ById {
  readonly Params: { readonly id: string }
}

interface ChangeBody {
  readonly name?: string
  readonly redirect_uris?: readonly string[]
  readonly native?: boolean
}

interface CreateBody extends ChangeBody {
  readonly name: string
  readonly redirect_uris: readonly string[]
  readonly confidential: boolean
}

/** The OAuth clients of a project. */
export const oauthClientRoutes = (site: FastifyInstance, deps: OAuthClientDeps): void => {
  readRoutes(site, deps)
  createRoute(site, deps)
  changeRoute(site, deps, 'PUT')
  changeRoute(site, deps, 'PATCH')
  secretRoute(site, deps)
  removeRoute(site, deps)
}

type Page = { readonly page_number: number; readonly page_size: number }

const readRoutes = (site: FastifyInstance, { oauthClients, requireProject }: OAuthClientDeps): void => {
  const onRequest = requireProject('resources')
  const lists = {
    ...describe('list_oauth_clients', 'List the OAuth clients'),
    querystring: { type: 'object', properties: pagingQuery },
    response: { 200: listSchema(clientSchema) },
  }
  site.get<{ Querystring: Page }>(path, { onRequest, schema: lists }, async ({ projectId, query }) =>
    listBody(await oauthClients.list(projectId, pageOf(query)), path, query, clientBody),
  )
  const reads = { ...describe('get_oauth_client', 'Get an OAuth client'), params: idParams }
  const schema = { ...reads, response: { 200: clientSchema } }
  site.get<ById>(`${path}/:id`, { onRequest, schema }, async ({ projectId, params }) =>
    clientBody(await oauthClients.get(projectId, params.id)),
  )
}

const createRoute = (site: FastifyInstance, { oauthClients, requireProject }: OAuthClientDeps): void => {
  const confidential = { type: 'boolean', default: false, description: 'It is to have a secret.' }
  const schema = {
    ...describe('create_oauth_client', 'Make an OAuth client; its secret is shown once'),
    body: {
      type: 'object',
      required: ['name', 'redirect_uris'],
      additionalProperties: false,
      properties: { ...fields, confidential },
    },
    response: { 201: madeSchema },
  }
  const onRequest = requireProject('resources')
  site.post<{ Body: CreateBody }>(path, { onRequest, schema }, async ({ projectId, body }, reply) => {
    const { name, redirect_uris: redirectUris, native = false } = body
    checkUris(redirectUris, native)
    const made = await oauthClients.create(projectId, { name, redirectUris, native }, body.confidential)
    const answer = { ...clientBody(made.client), ...(made.secret !== undefined && { secret: made.secret }) }
    return reply.code(201).header('cache-control', 'no-store').send(answer)
  })
}

const changeRoute = (
  site: FastifyInstance,
  { oauthClients, requireProject }: OAuthClientDeps,
  method: 'PUT' | 'PATCH',
): void => {
  const verb = method === 'PUT' ? 'update' : 'patch'
  site.route<ById & { Body: ChangeBody }>({
    method,
    url: `${path}/:id`,
    onRequest: requireProject('resources'),
    schema: {
      ...describe(`${verb}_oauth_client`, 'Change an OAuth client; omitted fields keep their values'),
      params: idParams,
      response: { 200: clientSchema },
      body: { type: 'object', additionalProperties: false, properties: fields },
    },
    handler: async ({ projectId, params, body }) => {
      const client = await oauthClients.get(projectId, params.id)
      const native = body.native ?? client.native
      checkUris(body.redirect_uris ?? client.redirectUris, native)
      const change: Partial<OAuthClientTerms> = {
        ...(body.name !== undefined && { name: body.name }),
        ...(body.redirect_uris && { redirectUris: body.redirect_uris }),
        native,
      }
      return clientBody(await oauthClients.update(projectId, params.id, change))
    },
  })
}

const secretRoute = (site: FastifyInstance, { oauthClients, requireProject }: OAuthClientDeps): void => {
  const schema = {
    ...describe('renew_oauth_client_secret', 'Give a confidential client another secret, shown once'),
    params: idParams,
    response: { 201: { type: 'object', required: ['secret'], properties: { secret } } },
  }
  const onRequest = requireProject('resources')
  site.post<ById>(`${path}/:id/secret`, { onRequest, schema }, async ({ projectId, params }, reply) => {
    const renewed = await oauthClients.renewSecret(projectId, params.id)
    return reply.code(201).header('cache-control', 'no-store').send({ secret: renewed })
  })
}

const removeRoute = (site: FastifyInstance, { oauthClients, requireProject }: OAuthClientDeps): void => {
  const schema = {
    ...describe('delete_oauth_client', 'Remove an OAuth client; users can no longer sign in to it'),
    params: idParams,
    response: { 204: emptyBody },
  }
  const onRequest = requireProject('resources')
  site.delete<ById>(`${path}/:id`, { onRequest, schema }, async ({ projectId, params }, reply) => {
    await oauthClients.remove(projectId, params.id)
    return reply.code(204).send()
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
