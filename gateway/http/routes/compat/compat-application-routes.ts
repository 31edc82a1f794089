import type { Resources } from '../../../directory/model/ports.ts'
import type { Resource, WebhookDetails } from '../../../directory/model/resource-types.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { findResource } from '../shared/resource-lookup.ts'
import { pageBody, pageOf, pageSchema, pagingQuery } from './compat-paging.ts'
import { parameter, shape } from './compat-shapes.ts'
import { formatTime } from './compat-times.ts'
import type { On } from './form-routes.ts'

/** Collaborators of the routes of applications. */
export interface CompatApplicationDeps {
  readonly resources: Pick<Resources, 'find' | 'list' | 'create' | 'update' | 'remove'>
}

const method = { type: 'string', enum: ['GET', 'POST'] } as const

const answer = shape({
  sid: 'text',
  account_sid: 'text',
  api_version: 'text',
  friendly_name: 'text',
  uri: 'text',
  voice_url: 'text',
  voice_method: 'text',
  voice_fallback_url: 'text?',
  voice_fallback_method: 'text?',
  status_callback: 'text?',
  status_callback_method: 'text?',
  date_created: 'text',
  date_updated: 'text',
})

const properties = {
  body: {
    FriendlyName: parameter.text(256),
    VoiceUrl: parameter.url,
    VoiceMethod: method,
    VoiceFallbackUrl: parameter.url,
    VoiceFallbackMethod: method,
    StatusCallback: parameter.url,
    StatusCallbackMethod: method,
  },
  unused: [
    'ApiVersion',
    'VoiceCallerIdLookup',
    'SmsUrl',
    'SmsMethod',
    'SmsFallbackUrl',
    'SmsFallbackMethod',
    'SmsStatusCallback',
    'MessageStatusCallback',
  ],
} as const

type Form = ValidatedFields<typeof properties.body>

const path = '/Accounts/:account/Applications'

/** `Applications`: URLs of XML documents by a name (resources of the type `cxml_webhook`). */
export const applicationRoutes = (on: On, { resources }: CompatApplicationDeps): void => {
  on(
    'POST',
    path,
    {
      id: 'createCompatApplication',
      summary: 'Creates an application',
      scope: 'resources',
      answer,
      isCreating: true,
      ...properties,
      required: ['VoiceUrl'],
    },
    async ({ projectId, body, base }) => {
      const details = { method: 'POST' as const, ...detailsOf(body), url: body.VoiceUrl }
      const displayName = body.FriendlyName ?? new URL(body.VoiceUrl).hostname
      const made = await resources.create({ projectId, type: 'cxml_webhook', displayName, details })
      return bodyOf(made, base)
    },
  )
  on(
    'GET',
    path,
    {
      id: 'listCompatApplications',
      summary: 'Lists applications, newest first',
      scope: 'resources',
      query: { FriendlyName: { type: 'string', maxLength: 256 }, ...pagingQuery },
      answer: pageSchema('applications', answer),
    },
    async (request) => {
      const query = {
        types: ['cxml_webhook'] as const,
        displayName: request.query.FriendlyName,
        descending: true,
        ...pageOf(request),
      }
      const listed = resources.list(request.projectId, query)
      return pageBody(request, 'applications', listed, (one) =>
        bodyOf(one as Resource<'cxml_webhook'>, request.base),
      )
    },
  )
  oneApplication(on, resources)
}

const oneApplication = (on: On, resources: CompatApplicationDeps['resources']): void => {
  on(
    'GET',
    `${path}/:sid`,
    { id: 'fetchCompatApplication', summary: 'Fetches an application', scope: 'resources', answer },
    async ({ projectId, id, base }) =>
      bodyOf(findResource(resources, projectId, 'cxml_webhook', id('sid')), base),
  )
  on(
    'POST',
    `${path}/:sid`,
    {
      id: 'updateCompatApplication',
      summary: 'Changes an application',
      scope: 'resources',
      answer,
      ...properties,
    },
    async ({ projectId, id, body, base }) => {
      const change = withoutUndefined({ displayName: body.FriendlyName, details: detailsOf(body) })
      return bodyOf(await resources.update(projectId, 'cxml_webhook', id('sid'), change), base)
    },
  )
  on(
    'DELETE',
    `${path}/:sid`,
    { id: 'deleteCompatApplication', summary: 'Deletes an application', scope: 'resources' },
    async ({ projectId, id }) => {
      await resources.remove(projectId, 'cxml_webhook', id('sid'))
      return undefined
    },
  )
}

const detailsOf = (form: Form): Partial<WebhookDetails> =>
  withoutUndefined({
    url: form.VoiceUrl,
    method: form.VoiceMethod,
    fallbackUrl: form.VoiceFallbackUrl,
    fallbackMethod: form.VoiceFallbackMethod,
    statusCallbackUrl: form.StatusCallback,
    statusCallbackMethod: form.StatusCallbackMethod,
  })

const bodyOf = (
  { id, projectId, displayName, details, createdAt, updatedAt }: Resource<'cxml_webhook'>,
  base: string,
) => ({
  sid: id,
  account_sid: projectId,
  api_version: '2010-04-01',
  friendly_name: displayName,
  voice_url: details.url,
  voice_method: details.method,
  voice_fallback_url: details.fallbackUrl ?? null,
  voice_fallback_method: details.fallbackMethod ?? null,
  status_callback: details.statusCallbackUrl ?? null,
  status_callback_method: details.statusCallbackMethod ?? null,
  date_created: formatTime(createdAt),
  date_updated: formatTime(updatedAt),
  uri: `${base}/Applications/${id}`,
})
