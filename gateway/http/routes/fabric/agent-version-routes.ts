import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { pathOf } from '../../../core/web/request-path.ts'
import type { AgentVersionRecord, AgentVersionSummary } from '../../../directory/model/ports.ts'
import { listBody, pageOf, pageQuery, sliceOf } from '../../requests/paging.ts'
import type { TypedSite, Validated } from '../../requests/typed-routes.ts'
import { badField, timeText } from '../shared/field-schemas.ts'
import { findResource } from '../shared/resource-lookup.ts'
import { forProjects, idParams, listSchema } from '../shared/route-schemas.ts'
import { chosenVersion, type VersionChoice, withVersion } from '../shared/version-choice.ts'
import type { ResourceDeps } from './resource-kind-routes.ts'

type AgentVersionDeps = Pick<ResourceDeps, 'resources' | 'requireProject'>

const restorationSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    document_version: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
    ai_agent_version_id: { type: 'string', format: 'uuid' },
  },
} as const

type Restoration = Validated<typeof restorationSchema>

const versionSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    document_version: { type: 'integer' },
    current: { type: 'boolean', description: 'Whether calls run this version.' },
    ai_agent: {
      type: 'object',
      additionalProperties: true,
      description: 'Settings of the version; absent in lists.',
    },
    created_at: { type: 'string', format: 'date-time' },
  },
} as const

const versionParams = {
  type: 'object',
  required: ['id', 'version_id'],
  properties: { ...idParams.properties, version_id: { type: 'string' } },
} as const

const summaryBody = ({ id, version, current, createdAt }: AgentVersionSummary) => ({
  id,
  document_version: version,
  current,
  created_at: timeText(createdAt),
})

const versionBody = (version: AgentVersionRecord) => ({ ...summaryBody(version), ai_agent: version.settings })

const base = '/api/fabric/resources/ai_agents/:id/versions'

/** Versions of voice agents: list, one with its settings, and the return to an earlier one. */
export const agentVersionRoutes = (site: TypedSite, deps: AgentVersionDeps): void => {
  listRoute(site, deps)
  versionRoute(site, deps)
  restoreRoute(site, deps)
}

const listRoute = (site: TypedSite, { resources, requireProject }: AgentVersionDeps): void => {
  const describe = forProjects('ai_agents', 'list_ai_agent_versions', 'List the versions of a voice agent')
  const schema = { params: idParams, querystring: pageQuery, response: { 200: listSchema(versionSchema) } }
  site.get(
    base,
    { onRequest: requireProject('resources'), schema: { ...describe, ...schema } },
    async ({ projectId, params, query, url: at }) => {
      const { id } = findResource(resources, projectId, 'ai_agent', params.id)
      const all = await resources.agentVersions(projectId, id)
      return listBody(sliceOf(all, pageOf(query)), pathOf(at), query, summaryBody)
    },
  )
}

const versionRoute = (site: TypedSite, { resources, requireProject }: AgentVersionDeps): void => {
  const describe = forProjects('ai_agents', 'get_ai_agent_version', 'Get a version of a voice agent')
  const schema = { params: versionParams, response: { 200: versionSchema } }
  site.get(
    `${base}/:version_id`,
    { onRequest: requireProject('resources'), schema: { ...describe, ...schema } },
    async ({ projectId, params }) => {
      const { id } = findResource(resources, projectId, 'ai_agent', params.id)
      const found = await resources.agentVersion(projectId, id, params.version_id)
      if (!found) throw new TrunklineError('unknown_resource')
      return versionBody(found)
    },
  )
}

const restoreRoute = (site: TypedSite, { resources, requireProject }: AgentVersionDeps): void => {
  const describe = forProjects('ai_agents', 'restore_ai_agent_version', 'Restore a version of a voice agent')
  const schema = { params: idParams, body: restorationSchema, response: { 201: versionSchema } }
  site.post(
    base,
    { onRequest: requireProject('resources'), schema: { ...describe, ...schema } },
    async ({ projectId, params, body }, reply) => {
      const { id } = findResource(resources, projectId, 'ai_agent', params.id)
      const choice = choiceOf(body)
      const version = chosenVersion(choice)
      if (version === undefined)
        throw badField('document_version', 'It, or ai_agent_version_id, is required.')
      const restore = () => resources.restoreAgent(projectId, id, version)
      const restored = await withVersion(choice, 'The agent has no such version.', restore)
      return reply.code(201).send(versionBody(restored))
    },
  )
}

const choiceOf = (body: Restoration): VersionChoice => ({
  version: body.document_version,
  id: body.ai_agent_version_id,
  idField: 'ai_agent_version_id',
})
