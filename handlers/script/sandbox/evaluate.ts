import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten-core'
import { newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core'

/** Expression, and the variables that it may use, as a JSON object in text form. */
export interface ExpressionJob {
  readonly expression: string
  readonly variables: string
}

/** Value of an expression as JSON, absent for undefined, or its error. */
type Outcome = { readonly value?: string } | { readonly error: string }

/** Outcome of an expression, with its CPU time in milliseconds. */
export type ExpressionReply = Outcome & { readonly ms: number }

/** Maximum CPU time of one expression, in milliseconds; other load of the machine does not count. */
export const maxMs = 150

/** Maximum heap of one expression in bytes, about thirty times the text of its variables. */
const maxHeapBytes = 16 * 1024 * 1024

/** Maximum stack of one expression in bytes. */
const maxStackBytes = 256 * 1024

/** Maximum length of a value as JSON, in characters. */
const maxValueLength = 65_536

/** Features of the language: no promises, proxies or shared memory. QuickJS needs `Eval` to read any code. */
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
 * Code that makes the variables global, with and without their prefix. Without a prefix, `vars` override
 * `envs`, and `envs` override `call`. Read-only names of the language, such as NaN, stay.
 */
const prelude = `(text) => {
  const all = globalThis
  const { call, vars, envs, params } = JSON.parse(text)
  for (const [name, value] of [call, envs, vars, { call, vars, envs, params }].flatMap(Object.entries))
    try { all[name] = value } catch {}
}`

/** Loads QuickJS. Returns a function that evaluates each expression in a new runtime. */
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

/** Error of an expression, described in words. */
class ExpressionError extends Error {}

/** Evaluates an expression in a context. Disposes of every handle that it creates. */
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
    // Looked up before the variables exist, because one of them may be named JSON.
    const stringify = run('JSON.stringify')
    const describe = run('String')
    const call = (of: QuickJSHandle, value: QuickJSHandle): QuickJSHandle =>
      take(context.callFunction(of, context.undefined, value), describe)
    call(run(prelude), keep(context.newString(variables)))
    // The expression has lines of its own, because it may end with a comment.
    const json = call(stringify, run(`(\n${expression}\n)`, describe))
    if (context.typeof(json) === 'undefined') return {}
    const value = context.getString(json)
    return value.length > maxValueLength
      ? { error: `its value is longer than ${maxValueLength} characters` }
      : { value }
  } catch (error) {
    // Any other error is a fault of the sandbox and ends its thread.
    if (error instanceof ExpressionError) return { error: error.message }
    throw error
  } finally {
    for (const handle of open) handle.dispose()
  }
}

/** Describes a thrown value. The sandbox converts it to text, and has more memory for that. */
const messageOf = (context: QuickJSContext, describe: QuickJSHandle, thrown: QuickJSHandle): string => {
  context.runtime.setMemoryLimit(maxHeapBytes * 2)
  const result = context.callFunction(describe, context.undefined, thrown)
  const text = result.error ? 'something was thrown' : context.getString(result.value)
  ;(result.error ?? result.value).dispose()
  return text === 'InternalError: interrupted' ? tooLong : text.slice(0, 200)
}
