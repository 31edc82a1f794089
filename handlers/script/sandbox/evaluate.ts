import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten-core'
import { newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core'

/** An expression, and the variables that it may name, as the text of a JSON object. */
export interface ExpressionJob {
  readonly expression: string
  readonly variables: string
}

/** Its value as JSON (absent: undefined), or what was wrong with it. */
type Outcome = { readonly value?: string } | { readonly error: string }

/** What came of it, and the time of a processor that it took, in ms. */
export type ExpressionReply = Outcome & { readonly ms: number }

/** Longest time of one expression in ms of its thread's own: on a busy machine it is not cut off for what others do. */
export const maxMs = 150
/** Heap of one expression in bytes: that of the variables' text some thirty times over. */
const maxHeapBytes = 16 * 1024 * 1024
/** Stack of one expression in bytes. */
const maxStackBytes = 256 * 1024
/** Longest value, as JSON. */
const maxValueLength = 65_536

/** What there is of the language: no promises, no proxies, no memory shared with anybody. `Eval` is what reads any code at all. */
const intrinsics = {
  BaseObjects: true,
  Date: true,
  Eval: true,
  StringNormalize: true,
  RegExp: true,
  JSON: true,
  MapSet: true,
}

/**
 * Makes the variables global: by their own names, `vars` before `envs` before `call`, and with their prefix. What the language has under a
 * name that cannot be written, such as NaN, stays.
 */
const prelude = `(text) => {
  const all = globalThis
  const { call, vars, envs, params } = JSON.parse(text)
  for (const [name, value] of [call, envs, vars, { call, vars, envs, params }].flatMap(Object.entries))
    try { all[name] = value } catch {}
}`

/** Loads QuickJS; each call of the function that comes back has a runtime of its own, which is gone when it returns. */
export const openEvaluator = async (): Promise<(job: ExpressionJob) => ExpressionReply> => {
  const module = await newQuickJSWASMModuleFromVariant(import('@jitl/quickjs-wasmfile-release-sync'))
  return (job) => {
    const begin = process.threadCpuUsage()
    const outcome = evaluate(module, job, begin)
    return { ...outcome, ms: msSince(begin) }
  }
}

const msSince = (begin: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(begin)
  return (user + system) / 1000
}

const tooLong = `it takes longer than ${maxMs} ms`

const evaluate = (module: QuickJSWASMModule, job: ExpressionJob, begin: NodeJS.CpuUsage): Outcome => {
  const runtime = module.newRuntime({
    memoryLimitBytes: maxHeapBytes,
    maxStackSizeBytes: maxStackBytes,
    interruptHandler: () => msSince(begin) > maxMs,
  })
  try {
    const context = runtime.newContext({ intrinsics })
    try {
      return evaluateIn(context, job)
    } finally {
      context.dispose()
    }
  } finally {
    runtime.dispose()
  }
}

/** What an expression threw, in words. */
class ExpressionError extends Error {}

/** Handles are values of the sandbox; each one is disposed of by whoever made it. */
const evaluateIn = (context: QuickJSContext, { expression, variables }: ExpressionJob): Outcome => {
  const open: QuickJSHandle[] = []
  const keep = (handle: QuickJSHandle): QuickJSHandle => {
    open.push(handle)
    return handle
  }
  const take = (result: ReturnType<QuickJSContext['evalCode']>, describe?: QuickJSHandle): QuickJSHandle => {
    if (!result.error) return keep(result.value)
    const error = keep(result.error)
    throw new ExpressionError(describe ? messageOf(context, describe, error) : 'the sandbox is too small')
  }
  const run = (code: string, describe?: QuickJSHandle): QuickJSHandle =>
    take(context.evalCode(code, 'expression', { type: 'global', strict: true }), describe)
  try {
    // Taken before the variables are there: one of them may be called JSON.
    const [stringify, describe] = [run('JSON.stringify'), run('String')]
    const call = (of: QuickJSHandle, value: QuickJSHandle): QuickJSHandle =>
      take(context.callFunction(of, context.undefined, value), describe)
    call(run(prelude), keep(context.newString(variables)))
    // On lines of its own: it may end in a comment.
    const json = call(stringify, run(`(\n${expression}\n)`, describe))
    if (context.typeof(json) === 'undefined') return {}
    const value = context.getString(json)
    return value.length > maxValueLength
      ? { error: `its value is longer than ${maxValueLength} characters` }
      : { value }
  } catch (error) {
    // Anything else is a fault of the sandbox itself, and ends its thread.
    if (error instanceof ExpressionError) return { error: error.message }
    throw error
  } finally {
    for (const handle of open) handle.dispose()
  }
}

/** What was thrown may be anything, and its text is made in the sandbox too, which gets some more room for that. */
const messageOf = (context: QuickJSContext, describe: QuickJSHandle, thrown: QuickJSHandle): string => {
  context.runtime.setMemoryLimit(maxHeapBytes * 2)
  const result = context.callFunction(describe, context.undefined, thrown)
  const text = result.error ? 'something was thrown' : context.getString(result.value)
  ;(result.error ?? result.value).dispose()
  return text === 'InternalError: interrupted' ? tooLong : text.slice(0, 200)
}
