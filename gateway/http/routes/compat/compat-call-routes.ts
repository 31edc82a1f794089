import type { CallPlacement } from '../../../calling/call-placement.ts'
import type { CallHistory, CallQuery, CallRow, CallStatus } from '../../../calls/log/call-rows.ts'
import { messageOf, TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import { isDestinationFault } from '../../requests/request-faults.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import { type Checks, checksOf } from '../shared/document-checks.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { audioIn, callBody, callShape } from './compat-call-body.ts'
import {
  createProperties,
  createUnused,
  documentProperties,
  handlerOf,
  orderOf,
  statusOf,
  statusProperties,
} from './compat-call-request.ts'
import { pageBody, pageOf, pageSchema, pagingQuery } from './compat-paging.ts'
import { timeQuery, timeRangeOf } from './compat-times.ts'
import type { On } from './form-routes.ts'

/** Collaborators of the routes of calls. */
export interface CompatCallDeps {
  readonly placement: CallPlacement
  readonly history: CallHistory
  readonly resources: Pick<Resources, 'find'>
  readonly documentChecks: Checks
  readonly cdrs: {
    /** Returns the CDR of an ended call. */
    record(projectId: string, kind: 'call', id: string): Promise<{ readonly record_json: string } | undefined>
  }
}

const statuses: readonly CallStatus[] = [
  'queued',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'failed',
  'no-answer',
  'canceled',
]

const callText = { type: 'string', maxLength: 2_000 } as const

const listQuery = {
  To: callText,
  From: callText,
  ParentCallSid: { type: 'string', maxLength: 64 },
  Status: { type: 'string', enum: statuses },
  ...timeQuery('StartTime'),
  ...timeQuery('EndTime'),
  ...pagingQuery,
} as const

/** `Calls`: create, fetch, list, redirect, end, remove. */
export const callRoutes = (on: On, deps: CompatCallDeps): void => {
  const { placement, history, resources, documentChecks } = deps
  on(
    'POST',
    '/Accounts/:account/Calls',
    {
      id: 'createCompatCall',
      summary: 'Creates a call',
      scope: 'calling',
      answer: callShape,
      isCreating: true,
      body: createProperties,
      required: ['To', 'From'],
      unused: createUnused,
    },
    async ({ projectId, body, base }) => {
      const check = checksOf(documentChecks, projectId)
      const order = await orderOf(projectId, body, { resources, check })
      return callBody(await asParameterFault(placement.place(order)), base)
    },
  )
  on(
    'GET',
    '/Accounts/:account/Calls',
    {
      id: 'listCompatCalls',
      summary: 'Lists calls, newest first',
      scope: 'calling',
      answer: pageSchema('calls', callShape),
      query: listQuery,
    },
    async (request) => {
      const listed = await history.list(request.projectId, { ...queryOf(request.query), ...pageOf(request) })
      return pageBody(request, 'calls', listed, (row) => callBody(row, request.base))
    },
  )
  oneCall(on, deps, (projectId, id) => findCall(history, projectId, id))
}

const oneCall = (
  on: On,
  { placement, history, cdrs, documentChecks }: CompatCallDeps,
  find: (projectId: string, id: string) => Promise<CallRow>,
): void => {
  const path = '/Accounts/:account/Calls/:sid'
  on(
    'GET',
    path,
    { id: 'fetchCompatCall', summary: 'Fetches a call', scope: 'calling', answer: callShape },
    async ({ projectId, id, base }) => {
      const row = await find(projectId, id('sid'))
      const record = row.endedAt === undefined ? undefined : await cdrs.record(projectId, 'call', row.id)
      return callBody(row, base, record && audioIn(record.record_json))
    },
  )
  on(
    'POST',
    path,
    {
      id: 'updateCompatCall',
      summary: 'Redirects or ends a call',
      scope: 'calling',
      body: {
        ...documentProperties,
        ...statusProperties,
        Status: { type: 'string', enum: ['completed', 'canceled'] },
      },
      answer: callShape,
    },
    async ({ projectId, id, body, base }) => {
      const handler = await handlerOf(body, checksOf(documentChecks, projectId))
      const sid = id('sid')
      if (body.Status) return callBody(await placement.end(projectId, sid, body.Status), base)
      if (handler) return callBody(await placement.redirect(projectId, sid, handler, statusOf(body)), base)
      const text = 'Status, Url or Twiml is needed.'
      throw new TrunklineError('missing_required_parameter', text, { attribute: 'Status' })
    },
  )
  on(
    'DELETE',
    path,
    { id: 'deleteCompatCall', summary: 'Deletes an ended call', scope: 'records' },
    async ({ projectId, id }) => {
      await history.remove(projectId, id('sid'))
      return undefined
    },
  )
}

/** Returns a call of the project. Throws `unknown_call`. */
export const findCall = async (
  history: Pick<CallHistory, 'find'>,
  projectId: string,
  id: string,
): Promise<CallRow> => {
  const row = await history.find(projectId, id)
  if (!row) throw new TrunklineError('unknown_call')
  return row
}

/** Form parameter by field of the placement. */
const parameters: Readonly<Record<string, string>> = { to: 'To', from: 'From', sendDigits: 'SendDigits' }

/** Reports a destination that cannot be called as a fault of the parameter, not of the path. */
const asParameterFault = async (placing: Promise<CallRow>): Promise<CallRow> => {
  try {
    return await placing
  } catch (error) {
    if (!(error instanceof TrunklineError)) throw error
    const { code, facts } = error
    const isUnreachable = isDestinationFault(code)
    if (!isUnreachable && code !== 'bad_request') throw error
    const attribute = parameters[String(facts.attribute ?? 'to')] ?? 'To'
    if (isUnreachable) throw new TrunklineError(code, error.detail, { attribute }, error)
    throw new TrunklineError('invalid_field', messageOf(error), { attribute }, error)
  }
}

const queryOf = (query: ValidatedFields<typeof listQuery>): Omit<CallQuery, 'number' | 'size'> => {
  const { To, From, Status, ParentCallSid } = query
  const started = timeRangeOf(query, 'StartTime')
  const ended = timeRangeOf(query, 'EndTime')
  return withoutUndefined({
    to: To,
    from: From,
    status: Status,
    parentId: ParentCallSid,
    startedFrom: started.from,
    startedUntil: started.until,
    endedFrom: ended.from,
    endedUntil: ended.until,
  })
}
