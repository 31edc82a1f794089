import { pathOf } from '../../../core/web/request-path.ts'
import type { FlowVersionRecord } from '../../../directory/model/ports.ts'
import { listBody, pageOf, pageQuery, sliceOf } from '../../requests/paging.ts'
import type { TypedSite, Validated } from '../../requests/typed-routes.ts'
import { documentBody } from '../shared/document-checks.ts'
import { timeText } from '../shared/field-schemas.ts'
import { findResource } from '../shared/resource-lookup.ts'
import { forProjects, idParams, listSchema } from '../shared/route-schemas.ts'
import { chosenVersion, type VersionChoice, withVersion } from '../shared/version-choice.ts'
import { addressList, addressPage, type ResourceDeps } from './resource-kind-routes.ts'

type FlowVersionDeps = Pick<ResourceDeps, 'resources' | 'requireProject'>

const deploymentSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    document_version: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
    call_flow_version_id: { type: 'string', format: 'uuid' },
  },
} as const

type Deployment = Validated<typeof deploymentSchema>

const versionSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    document_version: { type: 'integer' },
    current: { type: 'boolean', description: 'Whether calls run this version.' },
    flow_data: {},
    relayml: {},
    created_at: { type: 'string', format: 'date-time' },
  },
} as const

const versionBody = ({ id, version, current, flow, script, createdAt }: FlowVersionRecord) => ({
  id,
  document_version: version,
  current,
  flow_data: flow === undefined ? null : documentBody(flow),
  relayml: script === undefined ? null : documentBody(script),
  created_at: timeText(createdAt),
})

/**
 * Deployed versions of call flows: `GET` and `POST …/{id}/versions`, under `call_flow` (the documented path)
 * and `call_flows`. The addresses are under `call_flow` too.
 */
export const flowVersionRoutes = (site: TypedSite, deps: FlowVersionDeps): void => {
  for (const path of ['call_flow', 'call_flows']) {
    const base = `/api/fabric/resources/${path}/:id`
    listRoute(site, deps, `${base}/versions`, path)
    deployRoute(site, deps, `${base}/versions`, path)
  }
  const { resources, requireProject } = deps
  const describe = forProjects('call_flows', 'list_addresses_call_flow', 'List the addresses of a call flow')
  site.get(
    '/api/fabric/resources/call_flow/:id/addresses',
    { onRequest: requireProject('resources'), schema: { ...describe, ...addressList } },
    async ({ projectId, params, query, url }) =>
      addressPage(findResource(resources, projectId, 'call_flow', params.id), url, query),
  )
}

const listRoute = (
  site: TypedSite,
  { resources, requireProject }: FlowVersionDeps,
  url: string,
  name: string,
): void => {
  const describe = forProjects(
    'call_flows',
    `list_${name}_versions`,
    'List the deployed versions of a call flow',
  )
  const schema = { params: idParams, querystring: pageQuery, response: { 200: listSchema(versionSchema) } }
  site.get(
    url,
    { onRequest: requireProject('resources'), schema: { ...describe, ...schema } },
    async ({ projectId, params, query, url: at }) => {
      const { id } = findResource(resources, projectId, 'call_flow', params.id)
      const all = await resources.flowVersions(projectId, id)
      return listBody(sliceOf(all, pageOf(query)), pathOf(at), query, versionBody)
    },
  )
}

const deployRoute = (
  site: TypedSite,
  { resources, requireProject }: FlowVersionDeps,
  url: string,
  name: string,
): void => {
  const describe = forProjects(
    'call_flows',
    `deploy_${name}`,
    'Deploy the working copy of a call flow, or an earlier version',
  )
  const schema = { params: idParams, body: deploymentSchema, response: { 201: versionSchema } }
  site.post(
    url,
    { onRequest: requireProject('resources'), schema: { ...describe, ...schema } },
    async ({ projectId, params, body }, reply) => {
      const { id } = findResource(resources, projectId, 'call_flow', params.id)
      const choice = choiceOf(body)
      const version = chosenVersion(choice)
      const deploy = () => resources.deployFlow(projectId, id, version)
      const unknown = 'The call flow has no such version, or nothing to deploy.'
      const deployed = await withVersion(choice, unknown, deploy)
      return reply.code(201).send(versionBody(deployed))
    },
  )
}

const choiceOf = (body: Deployment): VersionChoice => ({
  version: body.document_version,
  id: body.call_flow_version_id,
  idField: 'call_flow_version_id',
})
