import type { Resource } from '../../../directory/model/resource-types.ts'
import { type Checks, checkStored } from '../shared/document-checks.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { findResource } from '../shared/resource-lookup.ts'
import type { CompatApplicationDeps } from './compat-application-routes.ts'
import { pageBody, pageOf, pageSchema, pagingQuery } from './compat-paging.ts'
import { parameter, shape } from './compat-shapes.ts'
import { formatTime } from './compat-times.ts'
import type { On } from './form-routes.ts'

/** Collaborators of the routes of documents. */
export interface CompatDocumentDeps extends CompatApplicationDeps {
  readonly documentChecks: Checks
}

const body = {
  Name: parameter.text(256),
  Contents: { type: 'string', minLength: 1, maxLength: 65_536, pattern: '^[^\\u0000]*$' },
} as const

const answer = shape({
  sid: 'text',
  account_sid: 'text',
  api_version: 'text',
  name: 'text',
  contents: 'text',
  request_url: 'text?',
  num_requests: 'whole?',
  last_accessed_at: 'text?',
  date_created: 'text',
  date_updated: 'text',
  uri: 'text',
})

const path = '/Accounts/:account/LamlBins'

/** `LamlBins`: XML documents that the gateway stores (resources of the type `cxml_script`). */
export const documentRoutes = (on: On, { resources, documentChecks }: CompatDocumentDeps): void => {
  on(
    'POST',
    path,
    {
      id: 'createCompatDocument',
      summary: 'Creates an XML document',
      scope: 'resources',
      answer,
      isCreating: true,
      body,
      required: ['Name', 'Contents'],
    },
    async ({ projectId, body: { Name, Contents }, base }) => {
      await checkContents(documentChecks, projectId, Contents)
      const details = { document: Contents }
      const made = await resources.create({ projectId, type: 'cxml_script', displayName: Name, details })
      return bodyOf(made, base)
    },
  )
  on(
    'GET',
    path,
    {
      id: 'listCompatDocuments',
      summary: 'Lists XML documents, newest first',
      scope: 'resources',
      query: pagingQuery,
      answer: pageSchema('laml_bins', answer),
    },
    async (request) => {
      const query = { types: ['cxml_script'] as const, descending: true, ...pageOf(request) }
      const listed = resources.list(request.projectId, query)
      return pageBody(request, 'laml_bins', listed, (one) =>
        bodyOf(one as Resource<'cxml_script'>, request.base),
      )
    },
  )
  oneDocument(on, { resources, documentChecks })
}

const checkContents = (checks: Checks, projectId: string, document: string): Promise<void> =>
  checkStored(checks, projectId, { kind: 'xml', document, attribute: 'Contents' })

const oneDocument = (on: On, { resources, documentChecks }: CompatDocumentDeps): void => {
  on(
    'GET',
    `${path}/:sid`,
    { id: 'fetchCompatDocument', summary: 'Fetches an XML document', scope: 'resources', answer },
    async ({ projectId, id, base }) =>
      bodyOf(findResource(resources, projectId, 'cxml_script', id('sid')), base),
  )
  on(
    'POST',
    `${path}/:sid`,
    { id: 'updateCompatDocument', summary: 'Changes an XML document', scope: 'resources', body, answer },
    async ({ projectId, id, body: { Name, Contents }, base }) => {
      if (Contents !== undefined) await checkContents(documentChecks, projectId, Contents)
      const details = Contents === undefined ? undefined : { document: Contents }
      const change = withoutUndefined({ displayName: Name, details })
      return bodyOf(await resources.update(projectId, 'cxml_script', id('sid'), change), base)
    },
  )
  on(
    'DELETE',
    `${path}/:sid`,
    { id: 'deleteCompatDocument', summary: 'Deletes an XML document', scope: 'resources' },
    async ({ projectId, id }) => {
      await resources.remove(projectId, 'cxml_script', id('sid'))
      return undefined
    },
  )
}

const bodyOf = (
  { id, projectId, displayName, details, createdAt, updatedAt }: Resource<'cxml_script'>,
  base: string,
) => ({
  sid: id,
  account_sid: projectId,
  api_version: '2010-04-01',
  name: displayName,
  contents: details.document,
  request_url: null,
  num_requests: null,
  last_accessed_at: null,
  date_created: formatTime(createdAt),
  date_updated: formatTime(updatedAt),
  uri: `${base}/LamlBins/${id}`,
})
