import { isJsonObject, readJsonObject } from '../../core/json.ts'

type Json = Readonly<Record<string, unknown>>

/** Entry of the agent's own report. Times are in ms from the answer. */
export interface SpokenEntry {
  readonly who: 'caller' | 'agent'
  readonly text: string
  /** Begin of the sound; undefined if the report has none. */
  readonly atMs?: number
  /** Whether the caller interrupted it. */
  readonly isInterrupted: boolean
}

/** Call of a function. */
export interface FunctionCall {
  readonly name: string
  readonly args: Json
  /** Result as the model got it. */
  readonly result: unknown
  readonly atMs: number
  readonly durationMs?: number
}

/** Facts of an agent's report. */
export interface ReportFacts {
  readonly spoken: readonly SpokenEntry[]
  readonly functions: readonly FunctionCall[]
  readonly summary?: string
  /** End of the conversation; undefined if the report has none. */
  readonly endMs?: number
}

/** Returns the facts of several conversations of one call, in the order of their ends. */
export const joinedFacts = (reports: readonly ReportFacts[]): ReportFacts => {
  const sorted = [...reports].sort(({ endMs: a = 0 }, { endMs: b = 0 }) => a - b)
  const summaries = sorted.flatMap(({ summary }) => summary ?? [])
  const endMs = sorted.at(-1)?.endMs
  return {
    spoken: sorted.flatMap(({ spoken }) => spoken),
    functions: sorted.flatMap(({ functions }) => functions),
    ...(summaries.length > 0 && { summary: summaries.join(' ') }),
    ...(endMs !== undefined && { endMs }),
  }
}

/** Reads the report of an agent to `post_prompt_url`. Parts of other shapes are left out. */
export const readReport = (report: Json): ReportFacts => {
  const raw = report.raw_call_log ?? report.call_log
  const log = Array.isArray(raw) ? raw.filter(isJsonObject) : []
  const zero = Number(report.call_answer_date ?? report.ai_start_date ?? 0)
  const ms = (micros: unknown): number | undefined =>
    typeof micros === 'number' ? Math.round((micros - zero) / 1000) : undefined
  const summary = report.conversation_summary
  const endMs = ms(report.ai_end_date)
  return {
    spoken: log.flatMap((entry) => spokenOf(entry, ms)),
    functions: log.flatMap((entry) => functionOf(entry, log, ms)),
    ...(typeof summary === 'string' && summary !== '' && { summary }),
    ...(endMs !== undefined && { endMs }),
  }
}

type Ms = (micros: unknown) => number | undefined

const spokenOf = (entry: Json, ms: Ms): readonly SpokenEntry[] => {
  const { role, content, barged } = entry
  if (typeof content !== 'string' || content === '') return []
  const isInterrupted = barged === true
  if (role === 'user') {
    const atMs = ms(entry.start_timestamp ?? entry.timestamp)
    return [{ who: 'caller', text: content, ...(atMs !== undefined && { atMs }), isInterrupted }]
  }
  if (role !== 'assistant' && role !== 'assistant-manual') return []
  const stamps = isJsonObject(entry.stamps_us) ? entry.stamps_us : {}
  const atMs = ms(stamps.first_audio ?? entry.timestamp)
  return [{ who: 'agent', text: content, ...(atMs !== undefined && { atMs }), isInterrupted }]
}

const functionOf = (entry: Json, log: readonly Json[], ms: Ms): readonly FunctionCall[] => {
  if (entry.role !== 'tool') return []
  const call = log.flatMap(callsOf).find(({ id }) => id === entry.tool_call_id)
  const durationMs = typeof entry.execution_latency === 'number' ? entry.execution_latency : undefined
  return [
    {
      name: String(entry.function_name ?? ''),
      args: argumentsOf(call?.function),
      result: entry.content,
      atMs: (ms(entry.timestamp) ?? 0) - (durationMs ?? 0),
      ...(durationMs !== undefined && { durationMs }),
    },
  ]
}

const callsOf = ({ tool_calls: calls }: Json): readonly Json[] =>
  Array.isArray(calls) ? calls.filter(isJsonObject) : []

const argumentsOf = (called: unknown): Json => {
  if (!isJsonObject(called)) return {}
  try {
    return readJsonObject(String(called.arguments))
  } catch {
    return {}
  }
}
