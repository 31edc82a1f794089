import type { CallPlacement } from '../../../calling/call-placement.ts'
import type { OpenQueue, OpenQueues } from '../../../calls/queue/open-queues.ts'
import type { Clock } from '../../../core/clock.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { sliceOf } from '../../requests/paging.ts'
import { pageBody, pageOf, pageSchema, pagingQuery } from './compat-paging.ts'
import { parameter, shape } from './compat-shapes.ts'
import { formatTime, wholeSeconds } from './compat-times.ts'
import type { On } from './form-routes.ts'

/** Collaborators of the routes of queues. */
export interface CompatQueueDeps {
  readonly queues: OpenQueues
  readonly placement: Pick<CallPlacement, 'redirect'>
  readonly clock: Pick<Clock, 'now'>
}

const queueShape = shape({
  sid: 'text',
  account_sid: 'text',
  friendly_name: 'text',
  current_size: 'whole',
  max_size: 'whole?',
  average_wait_time: 'whole',
  date_created: 'text',
  date_updated: 'text',
  uri: 'text',
  subresource_uris: 'links',
})

const memberShape = shape({
  call_sid: 'text',
  queue_sid: 'text',
  account_sid: 'text',
  date_enqueued: 'text',
  position: 'whole',
  wait_time: 'whole',
  uri: 'text',
})

const path = '/Accounts/:account/Queues'

/** `Queues` with waiting calls: list, fetch; and their members. */
export const queueRoutes = (on: On, deps: CompatQueueDeps): void => {
  const { queues } = deps
  on(
    'GET',
    path,
    {
      id: 'listCompatQueues',
      summary: 'Lists queues with waiting calls',
      scope: 'calling',
      query: pagingQuery,
      answer: pageSchema('queues', queueShape),
    },
    async (request) => {
      const part = sliceOf(queues.of(request.projectId), pageOf(request))
      return pageBody(request, 'queues', part, (queue) => queueBody(queue, request.projectId, request.base))
    },
  )
  on(
    'GET',
    `${path}/:sid`,
    { id: 'fetchCompatQueue', summary: 'Fetches a queue', scope: 'calling', answer: queueShape },
    async ({ projectId, id, base }) => queueBody(queueOf(queues, projectId, id('sid')), projectId, base),
  )
  memberRoutes(on, deps)
}

/** `Members`: list, fetch by call or `Front`, and redirect to another document. */
const memberRoutes = (on: On, { queues, placement, clock }: CompatQueueDeps): void => {
  const members = `${path}/:sid/Members`
  on(
    'GET',
    members,
    {
      id: 'listCompatMembers',
      summary: 'Lists the waiting calls of a queue',
      scope: 'calling',
      query: pagingQuery,
      answer: pageSchema('queue_members', memberShape),
    },
    async (request) => {
      const { projectId, base } = request
      const all = membersOf(queueOf(queues, projectId, request.id('sid')))
      const body = (member: Member) => memberBody(member, { projectId, base, now: clock.now() })
      return pageBody(request, 'queue_members', sliceOf(all, pageOf(request)), body)
    },
  )
  on(
    'GET',
    `${members}/:part`,
    {
      id: 'fetchCompatMember',
      summary: 'Fetches a waiting call of a queue',
      scope: 'calling',
      answer: memberShape,
    },
    async ({ projectId, id, base }) => {
      const member = memberOf(queueOf(queues, projectId, id('sid')), id('part'))
      return memberBody(member, { projectId, base, now: clock.now() })
    },
  )
  on(
    'POST',
    `${members}/:part`,
    {
      id: 'dequeueCompatMember',
      summary: 'Redirects a waiting call to another document',
      scope: 'calling',
      body: { Url: parameter.url, Method: parameter.method },
      required: ['Url'],
      answer: memberShape,
    },
    async ({ projectId, id, body, base }) => {
      const member = memberOf(queueOf(queues, projectId, id('sid')), id('part'))
      await placement.redirect(projectId, member.callId, { kind: 'xml', url: body.Url, method: body.Method })
      return memberBody(member, { projectId, base, now: clock.now() })
    },
  )
}

interface Member {
  readonly queueId: string
  readonly callId: string
  readonly since: number
  /** Position in the queue, from 1; the call at 1 is next. */
  readonly position: number
}

/** Returns a queue of the project. Throws `unknown_resource`. */
const queueOf = (queues: OpenQueues, projectId: string, id: string): OpenQueue => {
  const found = queues.of(projectId).find((queue) => queue.id === id)
  if (!found) throw new TrunklineError('unknown_resource')
  return found
}

const membersOf = ({ id: queueId, members }: OpenQueue): Member[] =>
  members.map((member, i) => ({ queueId, ...member, position: i + 1 }))

const memberOf = (queue: OpenQueue, id: string): Member => {
  const members = membersOf(queue)
  const found = id === 'Front' ? members[0] : members.find(({ callId }) => callId === id)
  if (!found) throw new TrunklineError('unknown_resource')
  return found
}

const queueBody = (queue: OpenQueue, projectId: string, base: string) => {
  const uri = `${base}/Queues/${queue.id}`
  const date = formatTime(queue.openedAt)
  return {
    sid: queue.id,
    account_sid: projectId,
    friendly_name: queue.name,
    current_size: queue.members.length,
    max_size: queue.maxSize ?? null,
    average_wait_time: wholeSeconds(queue.averageWaitMs),
    date_created: date,
    date_updated: date,
    uri,
    subresource_uris: { members: `${uri}/Members` },
  }
}

const memberBody = (
  { queueId, callId, since, position }: Member,
  { projectId, base, now }: { readonly projectId: string; readonly base: string; readonly now: number },
) => ({
  call_sid: callId,
  queue_sid: queueId,
  account_sid: projectId,
  position,
  date_enqueued: formatTime(since),
  wait_time: wholeSeconds(now - since),
  uri: `${base}/Queues/${queueId}/Members/${callId}`,
})
