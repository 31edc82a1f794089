import type { OpenConference, OpenConferences } from '../../../calls/conference/open-conferences.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { sliceOf } from '../../requests/paging.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { pageBody, pageOf, pageSchema, pagingQuery } from './compat-paging.ts'
import { participantRoutes } from './compat-participant-routes.ts'
import { parameter, shape } from './compat-shapes.ts'
import { formatTime, timeQuery, timeRangeOf } from './compat-times.ts'
import type { On } from './form-routes.ts'
import { contentAt, type SideDocuments } from './side-documents.ts'

/** Collaborators of the routes of conferences. */
export interface CompatConferenceDeps {
  readonly conferences: OpenConferences
  readonly sideDocuments: SideDocuments
}

const listQuery = {
  FriendlyName: { type: 'string', maxLength: 128 },
  Status: { type: 'string', enum: ['init', 'in-progress', 'completed'] },
  ...timeQuery('DateCreated'),
  ...timeQuery('DateUpdated'),
  ...pagingQuery,
} as const

const path = '/Accounts/:account/Conferences'

const answer = shape({
  sid: 'text',
  account_sid: 'text',
  friendly_name: 'text',
  status: 'text',
  region: 'text?',
  date_created: 'text',
  date_updated: 'text',
  api_version: 'text',
  uri: 'text',
  reason_conference_ended: 'text?',
  call_sid_ending_conference: 'text?',
  subresource_uris: 'links',
})

/** `Conferences` in progress: list, fetch, announce, end; and their participants. */
export const conferenceRoutes = (on: On, deps: CompatConferenceDeps): void => {
  const { conferences, sideDocuments } = deps
  on(
    'GET',
    path,
    {
      id: 'listCompatConferences',
      summary: 'Lists conferences in progress',
      scope: 'calling',
      query: listQuery,
      answer: pageSchema('conferences', answer),
    },
    async (request) => {
      const all = (await conferences.of(request.projectId)).filter(fits(request.query))
      const body = (each: OpenConference) => conferenceBody(each, request.projectId, request.base)
      return pageBody(request, 'conferences', sliceOf(all, pageOf(request)), body)
    },
  )
  on(
    'GET',
    `${path}/:sid`,
    { id: 'fetchCompatConference', summary: 'Fetches a conference', scope: 'calling', answer },
    async ({ projectId, id, base }) =>
      conferenceBody(await conferenceOf(conferences, projectId, id('sid')), projectId, base),
  )
  on(
    'POST',
    `${path}/:sid`,
    {
      id: 'updateCompatConference',
      summary: 'Ends a conference, or plays an announcement',
      scope: 'calling',
      answer,
      body: {
        Status: { type: 'string', enum: ['completed'] },
        AnnounceUrl: parameter.url,
        AnnounceMethod: parameter.method,
      },
    },
    async ({ projectId, id, body, base }) => {
      const conference = await conferenceOf(conferences, projectId, id('sid'))
      const { AnnounceUrl: url, AnnounceMethod: method } = body
      if (url !== undefined)
        for (const participant of conference.participants)
          participant.announce(contentAt(sideDocuments, url, method))
      if (body.Status) conference.end()
      return { ...conferenceBody(conference, projectId, base), ...(body.Status && { status: 'completed' }) }
    },
  )
  participantRoutes(on, deps)
}

/** Returns a conference of the project. Throws `unknown_resource`. */
export const conferenceOf = async (
  conferences: OpenConferences,
  projectId: string,
  id: string,
): Promise<OpenConference> => {
  const found = (await conferences.of(projectId)).find((conference) => conference.id === id)
  if (!found) throw new TrunklineError('unknown_resource')
  return found
}

const statusOf = ({ isStarted }: OpenConference): string => (isStarted ? 'in-progress' : 'init')

const conferenceBody = (conference: OpenConference, projectId: string, base: string) => {
  const uri = `${base}/Conferences/${conference.id}`
  const date = formatTime(conference.openedAt)
  return {
    sid: conference.id,
    account_sid: projectId,
    friendly_name: conference.name,
    status: statusOf(conference),
    region: null,
    api_version: '2010-04-01',
    uri,
    date_created: date,
    date_updated: date,
    reason_conference_ended: null,
    call_sid_ending_conference: null,
    subresource_uris: { participants: `${uri}/Participants`, recordings: null },
  }
}

const fits = (query: ValidatedFields<typeof listQuery>): ((conference: OpenConference) => boolean) => {
  const stretches = [timeRangeOf(query, 'DateCreated'), timeRangeOf(query, 'DateUpdated')]
  return (conference) =>
    (query.FriendlyName === undefined || query.FriendlyName === conference.name) &&
    (query.Status === undefined || query.Status === statusOf(conference)) &&
    stretches.every(
      ({ from = 0, until = Infinity }) => conference.openedAt >= from && conference.openedAt < until,
    )
}
