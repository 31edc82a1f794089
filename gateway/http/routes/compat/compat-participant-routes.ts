import type { Participant, ParticipantChange } from '../../../calls/conference/open-conferences.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { sliceOf } from '../../requests/paging.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { type CompatConferenceDeps, conferenceOf } from './compat-conference-routes.ts'
import { pageBody, pageOf, pageSchema, pagingQuery } from './compat-paging.ts'
import { parameter, shape } from './compat-shapes.ts'
import { formatTime } from './compat-times.ts'
import type { CompatRequest, On, RouteSpec } from './form-routes.ts'
import { contentAt } from './side-documents.ts'

const path = '/Accounts/:account/Conferences/:sid/Participants'

const answer = shape({
  call_sid: 'text',
  conference_sid: 'text',
  account_sid: 'text',
  label: 'text?',
  status: 'text',
  muted: 'flag',
  hold: 'flag',
  coaching: 'flag',
  call_sid_to_coach: 'text?',
  start_conference_on_enter: 'flag',
  end_conference_on_exit: 'flag',
  date_created: 'text',
  date_updated: 'text',
  api_version: 'text',
  uri: 'text',
})

const updating = {
  id: 'updateCompatParticipant',
  summary: 'Mutes or holds a participant, or plays an announcement',
  scope: 'calling',
  body: {
    Muted: parameter.flag,
    Hold: parameter.flag,
    HoldUrl: parameter.url,
    HoldMethod: parameter.method,
    AnnounceUrl: parameter.url,
    AnnounceMethod: parameter.method,
    WaitUrl: parameter.url,
    WaitMethod: parameter.method,
    BeepOnExit: parameter.flag,
    EndConferenceOnExit: parameter.flag,
    Coaching: parameter.flag,
    CallSidToCoach: { type: 'string', minLength: 1, maxLength: 64 },
  },
  answer,
} as const satisfies RouteSpec

type UpdateForm = ValidatedFields<typeof updating.body>

const listQuery = {
  Muted: parameter.flag,
  Hold: parameter.flag,
  Coaching: parameter.flag,
  ...pagingQuery,
} as const

/** `Participants` of a conference: list, fetch, mute, hold, announce, remove. */
export const participantRoutes = (on: On, { conferences, sideDocuments }: CompatConferenceDeps): void => {
  const participant = async ({
    projectId,
    id,
  }: Pick<CompatRequest, 'projectId' | 'id'>): Promise<Participant> => {
    const { participants } = await conferenceOf(conferences, projectId, id('sid'))
    const found = participants.find(({ callId }) => callId === id('part'))
    if (!found) throw new TrunklineError('unknown_resource')
    return found
  }
  on(
    'GET',
    path,
    {
      id: 'listCompatParticipants',
      summary: 'Lists the participants of a conference',
      scope: 'calling',
      query: listQuery,
      answer: pageSchema('participants', answer),
    },
    async (request) => {
      const { participants } = await conferenceOf(conferences, request.projectId, request.id('sid'))
      const part = sliceOf(participants.filter(fits(request.query)), pageOf(request))
      return pageBody(request, 'participants', part, (each) => bodyOf(each, request))
    },
  )
  on(
    'GET',
    `${path}/:part`,
    { id: 'fetchCompatParticipant', summary: 'Fetches a participant', scope: 'calling', answer },
    async (request) => bodyOf(await participant(request), request),
  )
  on('POST', `${path}/:part`, updating, async (request) => {
    const found = await participant(request)
    const { participants } = await conferenceOf(conferences, request.projectId, request.id('sid'))
    const change = changeOf(request.body, found, participants, sideDocuments)
    if (change) found.change(change)
    const { Muted, Hold, HoldUrl, HoldMethod, AnnounceUrl, AnnounceMethod } = request.body
    if (Muted !== undefined) found.mute(Muted)
    if (Hold !== undefined)
      found.hold(Hold, HoldUrl ? contentAt(sideDocuments, HoldUrl, HoldMethod) : undefined)
    if (AnnounceUrl !== undefined) found.announce(contentAt(sideDocuments, AnnounceUrl, AnnounceMethod))
    return bodyOf(found, request)
  })
  on(
    'DELETE',
    `${path}/:part`,
    { id: 'removeCompatParticipant', summary: 'Removes a participant from a conference', scope: 'calling' },
    async (request) => {
      const found = await participant(request)
      found.remove()
      return undefined
    },
  )
}

/** Returns the changes of a form, if any. Throws `missing_required_parameter` and `invalid_field`. */
const changeOf = (
  form: UpdateForm,
  of: Participant,
  participants: readonly Participant[],
  sideDocuments: CompatConferenceDeps['sideDocuments'],
): ParticipantChange | undefined => {
  const { WaitUrl: url, WaitMethod: method, BeepOnExit, EndConferenceOnExit } = form
  const change = {
    ...(url !== undefined && { wait: contentAt(sideDocuments, url, method) }),
    ...withoutUndefined({ beepOnExit: BeepOnExit, endOnExit: EndConferenceOnExit }),
    ...coachOf(form, of, participants),
  }
  return Object.keys(change).length > 0 ? change : undefined
}

const coachOf = (
  { Coaching, CallSidToCoach }: UpdateForm,
  { callId, options }: Participant,
  participants: readonly Participant[],
): Pick<ParticipantChange, 'coach'> => {
  const attribute = 'CallSidToCoach'
  if (Coaching === false) return { coach: null }
  if (Coaching && CallSidToCoach === undefined && options.coach === undefined)
    throw new TrunklineError('missing_required_parameter', 'Coaching requires CallSidToCoach.', {
      attribute,
    })
  if (CallSidToCoach === undefined) return {}
  if (CallSidToCoach === callId || !participants.some((each) => each.callId === CallSidToCoach))
    throw new TrunklineError(
      'invalid_field',
      'CallSidToCoach is not another participant of the conference.',
      { attribute },
    )
  return { coach: CallSidToCoach }
}

const fits =
  ({ Muted, Hold, Coaching }: ValidatedFields<typeof listQuery>) =>
  ({ isMuted: muted, isHeld: held, options }: Participant): boolean =>
    (Muted === undefined || Muted === muted) &&
    (Hold === undefined || Hold === held) &&
    (Coaching === undefined || Coaching === (options.coach !== undefined))

const bodyOf = (
  { callId, isMuted: muted, isHeld: held, joinedAt, options }: Participant,
  { projectId, base, id }: Pick<CompatRequest, 'projectId' | 'base' | 'id'>,
) => ({
  call_sid: callId,
  conference_sid: id('sid'),
  account_sid: projectId,
  label: null,
  status: 'connected',
  muted,
  hold: held,
  coaching: options.coach !== undefined,
  call_sid_to_coach: options.coach ?? null,
  start_conference_on_enter: options.startOnEnter ?? true,
  end_conference_on_exit: options.endOnExit ?? false,
  date_created: formatTime(joinedAt),
  date_updated: formatTime(joinedAt),
  api_version: '2010-04-01',
  uri: `${base}/Conferences/${id('sid')}/Participants/${callId}`,
})
