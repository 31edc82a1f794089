import type { CdrRow } from '../../../directory/tables/cdrs.ts'

type Value = string | number | null

interface Field {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number'
  readonly description: string
  /** Whether the field is never null. */
  readonly required?: true
  /** Only kind of record that has the field; default: both kinds have it. */
  readonly kind?: 'leg'
  readonly of: (row: CdrRow) => Value
}

const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** Fields of a CDR in the order of export columns. */
const all: readonly Field[] = [
  { name: 'id', type: 'string', required: true, description: 'Id of the call or leg.', of: (r) => r.id },
  {
    name: 'project_id',
    type: 'string',
    required: true,
    description: 'Id of the project.',
    of: (r) => r.project_id,
  },
  { name: 'call_id', type: 'string', required: true, description: 'Id of the call.', of: (r) => r.call_id },
  {
    name: 'position',
    type: 'integer',
    required: true,
    kind: 'leg',
    description: 'Position among the legs of the call, from 0.',
    of: (r) => r.place,
  },
  { name: 'role', type: 'string', kind: 'leg', description: 'caller or callee.', of: (r) => r.role },
  { name: 'type', type: 'string', required: true, description: 'sip or webrtc.', of: (r) => r.type },
  {
    name: 'direction',
    type: 'string',
    required: true,
    description: 'inbound or outbound.',
    of: (r) => r.direction,
  },
  {
    name: 'from',
    type: 'string',
    required: true,
    description: 'Caller: a URI or an address.',
    of: (r) => r.from_uri,
  },
  {
    name: 'to',
    type: 'string',
    required: true,
    description: 'Callee: a URI or an address.',
    of: (r) => r.to_uri,
  },
  { name: 'carrier', type: 'string', description: 'Name of the carrier.', of: (r) => r.carrier },
  { name: 'domain', type: 'string', description: 'SIP domain that the call came to.', of: (r) => r.domain },
  { name: 'source', type: 'string', description: 'IP address that the call came from.', of: (r) => r.source },
  { name: 'sip_call_id', type: 'string', description: 'SIP Call-ID.', of: (r) => r.sip_call_id },
  {
    name: 'started_at',
    type: 'string',
    required: true,
    description: 'Start of the call or leg.',
    of: (r) => time(r.started_at),
  },
  { name: 'ringing_at', type: 'string', description: 'Start of the ringing.', of: (r) => time(r.ringing_at) },
  {
    name: 'answered_at',
    type: 'string',
    description: 'Time of the answer.',
    of: (r) => time(r.answered_at),
  },
  {
    name: 'ended_at',
    type: 'string',
    required: true,
    description: 'Time of the end.',
    of: (r) => time(r.ended_at),
  },
  {
    name: 'duration_ms',
    type: 'integer',
    required: true,
    description: 'Duration from start to end, in ms.',
    of: (r) => r.duration_ms,
  },
  {
    name: 'answered_ms',
    type: 'integer',
    required: true,
    description: 'Duration from answer to end, in ms; 0 without an answer.',
    of: (r) => r.answered_ms,
  },
  { name: 'code', type: 'string', description: 'Reason for the end (docs/errors.md).', of: (r) => r.code },
  {
    name: 'ended_by',
    type: 'string',
    description: 'Party that ended the call or leg: `far` for the far side, `us` for the gateway.',
    of: (r) => r.ended_by,
  },
  {
    name: 'sip_status',
    type: 'integer',
    description: 'Final SIP status of the remote party.',
    of: (r) => r.sip_status,
  },
  { name: 'q850', type: 'integer', description: 'Q.850 cause value.', of: (r) => r.q850 },
  { name: 'codec', type: 'string', description: 'Last audio codec.', of: (r) => r.codec },
  {
    name: 'mos',
    type: 'number',
    description: 'Estimated mean opinion score, 1 to 4.5; for a call, that of its worst leg.',
    of: (r) => r.mos,
  },
  {
    name: 'loss',
    type: 'number',
    description: 'Share of lost packets, 0 to 1.',
    of: (r) => r.loss,
  },
  {
    name: 'jitter_ms',
    type: 'number',
    description: 'Interarrival jitter at the end, in ms.',
    of: (r) => r.jitter_ms,
  },
]

/** Kinds of records. */
export type RecordKind = CdrRow['kind']

const fieldsOf = (kind: RecordKind): readonly Field[] => all.filter((field) => (field.kind ?? kind) === kind)

/** Names of the fields, in the order of the columns. */
export const columnsOf = (kind: RecordKind): readonly string[] => fieldsOf(kind).map(({ name }) => name)

/** Returns the fields of a record for lists. */
export const recordBody = (row: CdrRow): Readonly<Record<string, Value>> =>
  Object.fromEntries(fieldsOf(row.kind).map(({ name, of }) => [name, of(row)]))

/** Returns the fields of {@link recordBody}, and the complete CDR. */
export const wholeBody = (row: CdrRow): object => ({
  ...recordBody(row),
  record: JSON.parse(row.record_json),
})

/** Schema of a {@link recordBody}. */
export const recordSchema = (kind: RecordKind) => ({
  type: 'object',
  required: columnsOf(kind),
  properties: Object.fromEntries(
    fieldsOf(kind).map(({ name, type, required, description }) => [
      name,
      { type: required ? type : [type, 'null'], description },
    ]),
  ),
})

/** Schema of a {@link wholeBody}. */
export const wholeSchema = (kind: RecordKind) => {
  const { required, properties, type } = recordSchema(kind)
  const description =
    'The whole record, as `webhooks.recordsUrl` and the log line `call ended` have it (docs/records.md).'
  const record = { type: 'object', additionalProperties: true, description }
  return { type, required: [...required, 'record'], properties: { ...properties, record } }
}
