import { afterAll, describe, expect, it } from 'vitest'
import type { ExpressionReply } from './evaluate.ts'
import { ExpressionFailed, Sandbox } from './sandbox.ts'
import { type SandboxThread, startThread } from './thread.ts'

/** Timers that never fire. The test of the time-out uses other timers. */
const noTimers = { after: () => ({ cancel: () => {} }) }
const sandbox = new Sandbox(noTimers)
afterAll(() => sandbox.close())

const evaluate = (expression: string, variables: Readonly<Record<string, unknown>> = {}) =>
  sandbox.evaluate(expression, { call: {}, vars: {}, envs: {}, params: {}, ...variables })

const failureOf = async (expression: string, variables?: Readonly<Record<string, unknown>>) => {
  const error = await evaluate(expression, variables).then(
    (value) => new Error(`it has the value ${JSON.stringify(value)}`),
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(ExpressionFailed)
  return (error as Error).message
}

describe('an expression', () => {
  it.each([
    ['1 + 1', 2],
    ['vars.a > 3 ? "more" : "less"', 'more'],
    ['call.from.slice(1, 4)', '155'],
    ['params.list.map((x) => ({ x: x * 2 }))', [{ x: 2 }, { x: 4 }]],
    ['Math.max(...params.list) + parseInt("7px")', 9],
    ['a + b + c', 'var env call'],
    ['vars.none', undefined],
    ['(x) => x', undefined],
    ['null', null],
    ['"ü".length // the end', 1],
    ['new Date(0).toISOString()', '1970-01-01T00:00:00.000Z'],
  ])('%s is evaluated', async (expression, value) => {
    const variables = {
      call: { from: '+15550001', c: ' call', a: 'call', b: 'call' },
      envs: { b: ' env', a: 'env' },
      vars: { a: 'var', b: undefined },
      params: { list: [1, 2] },
    }
    const vars = expression.startsWith('vars.a') ? { a: 4 } : variables.vars
    expect(await evaluate(expression, { ...variables, vars })).toEqual(value)
  })

  it.each([
    ['1 +', 'SyntaxError'],
    ['for (;;) {}', 'SyntaxError'],
    ['await 1', 'SyntaxError'],
    ['absent.value', "ReferenceError: 'absent' is not defined"],
    ['vars.none.more', 'TypeError'],
    ['vars.a = 1, made = 1', 'ReferenceError'],
    ['(() => { throw 5 })()', ''],
    [`(() => { throw new Error("${'x'.repeat(900)}") })()`, 'Error: xxx'],
  ])('%s is a fault', async (expression, message) => {
    const text = await failureOf(expression)
    expect(text).toContain(message)
    expect(text.length).toBeLessThanOrEqual(200)
  })

  it('sees no state of the previous one', async () => {
    await evaluate('(globalThis.left = 1, Object.prototype.left = 2, Array.prototype.map = null, 0)')
    expect(await evaluate('typeof left + typeof [].left + [1].map((x) => x)')).toBe('undefinedundefined1')
  })

  it('may have variables with the names of the language', async () => {
    expect(await evaluate('JSON + Object', { vars: { JSON: 1, Object: 2 } })).toBe(3)
    const fixed = { undefined: 1, NaN: 2, Infinity: 3, globalThis: 4, Array: 5, after: 6 }
    expect(await evaluate('[undefined, isNaN(NaN), globalThis, after]', { vars: fixed })).toEqual([
      null,
      true,
      4,
      6,
    ])
    const hostile = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}')
    expect(await evaluate('typeof {}.polluted + ({}).constructor.name', { vars: hostile })).toBe(
      'undefinedObject',
    )
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('the sandbox withstands', () => {
  it.each([
    ['an endless loop', '(() => { for (;;); })()', 'longer than 150 ms'],
    ['a regular expression without an end', '/(a+)+$/.test("a".repeat(40) + "b")', 'longer than 150 ms'],
    ['a long text', '"x".repeat(1e9)', 'InternalError'],
    [
      'a doubled text',
      '(() => { let s = "0123456789"; for (let i = 0; i < 40; i++) s += s; return s })()',
      'InternalError',
    ],
    ['a long list', 'new Array(1e8).fill(0)', 'InternalError'],
    ['a deep recursion', '(() => { const f = () => f() + 1; return f() })()', 'InternalError'],
    ['a deep structure', '(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a })()', ''],
    ['a deep text', 'JSON.parse("[".repeat(200000))', ''],
    ['a long value', '"x".repeat(70000)', 'longer than 65536 characters'],
    ['a value without an end', '({ toJSON() { for (;;); } })', 'longer than 150 ms'],
    ['a ring', '(() => { const a = {}; a.a = a; return a })()', 'TypeError'],
  ])('%s', async (_what, expression, message) => {
    expect(await failureOf(expression)).toContain(message)
    expect(await evaluate('1 + 1')).toBe(2)
  })

  it('memory exhaustion, at whichever limit comes first', async () => {
    await failureOf('(() => { const all = []; for (;;) all.push("x".repeat(10000) + all.length) })()')
    expect(await evaluate('1 + 1')).toBe(2)
  })

  it.each([
    'this.constructor.constructor("return typeof process + typeof require + typeof module")()',
    '[].constructor.constructor("return typeof process + typeof require + typeof module")()',
    '(() => {}).constructor("return typeof process + typeof require + typeof module")()',
    '(0, eval)("typeof process + typeof require + typeof module")',
    '(() => { try { null.x } catch (e) { return e.constructor.constructor("return typeof process")() } })() + "undefinedundefined"',
    'typeof process + typeof require + typeof module',
  ])('%s reaches no object of the host', async (expression) => {
    expect(await evaluate(expression)).toBe('undefinedundefinedundefined')
  })

  it('has no name of the host and no asynchronous function', async () => {
    const names = (await evaluate('Object.getOwnPropertyNames(globalThis)')) as string[]
    for (const name of [
      'process',
      'require',
      'fetch',
      'setTimeout',
      'WebAssembly',
      'console',
      'Promise',
      'Proxy',
      'SharedArrayBuffer',
      'Atomics',
      'postMessage',
      'Worker',
      'std',
      'os',
    ])
      expect(names).not.toContain(name)
  })
})

describe('the threads of the sandbox', () => {
  interface FakeThread extends SandboxThread {
    readonly jobs: string[]
    readonly ready: () => void
    readonly reply: (reply: ExpressionReply) => void
    readonly die: () => void
    ended: boolean
  }

  const open = () => {
    const threads: FakeThread[] = []
    const alarms: (() => void)[] = []
    const waits: number[] = []
    const timers = {
      after: (ms: number, run: () => void) => {
        alarms.push(run)
        waits.push(ms)
        return { cancel: () => void alarms.splice(alarms.indexOf(run), 1) }
      },
    }
    const pool = new Sandbox(timers, ({ onReady: ready, onReply: reply, onFailure: die }) => {
      const thread: FakeThread = {
        jobs: [],
        ready,
        reply,
        die,
        ended: false,
        send: ({ expression }) => void thread.jobs.push(expression),
        end: async () => {
          thread.ended = true
        },
      }
      threads.push(thread)
      return thread
    })
    return { pool, threads, alarms, waits }
  }

  it('are two, each with one expression at a time', async () => {
    const { pool, threads } = open()
    const values = ['a', 'b', 'c'].map((expression) => pool.evaluate(expression, {}))
    expect(threads.map(({ jobs }) => jobs)).toEqual([['a'], ['b']])
    expect(pool.pending).toBe(3)
    threads[1]?.reply({ value: '2', ms: 1 })
    expect(threads[1]?.jobs).toEqual(['b', 'c'])
    threads[0]?.reply({ value: '1', ms: 1 })
    threads[1]?.reply({ ms: 1 })
    expect(await Promise.all(values)).toEqual([1, 2, undefined])
    expect(pool.pending).toBe(0)
  })

  it('are replaced if they do not answer, or exit', async () => {
    const { pool, threads, alarms } = open()
    const silent = pool.evaluate('a', {})
    alarms[0]?.()
    await expect(silent).rejects.toThrow('does not answer')
    expect(threads[0]?.ended).toBe(true)
    const dying = pool.evaluate('b', {})
    const next = [pool.evaluate('c', {}), pool.evaluate('d', {})]
    threads[1]?.die()
    await expect(dying).rejects.toThrow('exhausts its thread')
    expect(threads.map(({ jobs }) => jobs)).toEqual([['a'], ['b'], ['c'], ['d']])
    threads[2]?.reply({ value: '3', ms: 1 })
    threads[3]?.reply({ value: '4', ms: 1 })
    expect(await Promise.all(next)).toEqual([3, 4])
    expect(alarms).toEqual([])
  })

  it('have ten seconds to start, and two seconds for each expression', async () => {
    const { pool, threads, alarms, waits } = open()
    const slow = pool.evaluate('a', {})
    threads[0]?.ready()
    expect([waits, alarms.length]).toEqual([[10_000, 2000], 1])
    threads[0]?.reply({ value: '1', ms: 1 })
    expect(await slow).toBe(1)
    const stuck = pool.evaluate('b', {})
    expect(waits).toEqual([10_000, 2000, 2000])
    alarms[0]?.()
    await expect(stuck).rejects.toThrow('does not answer')
  })

  it('report that they have started', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const thread = startThread({ onReady: resolve, onReply: () => {}, onFailure: () => {} })
    await promise
    await thread.end()
  })

  it('can be terminated at any time', async () => {
    const alarms: (() => void)[] = []
    const after = (_ms: number, run: () => void) => {
      alarms.push(run)
      return { cancel: () => {} }
    }
    const pool = new Sandbox({ after })
    const endless = pool.evaluate('(() => { for (;;); })()', { call: {}, vars: {}, envs: {}, params: {} })
    alarms[0]?.()
    await expect(endless).rejects.toThrow('does not answer')
    expect(await pool.evaluate('1 + 1', { call: {}, vars: {}, envs: {}, params: {} })).toBe(2)
    await pool.close()
  })

  it('that cannot start fail the expression, and start again for the next one', async () => {
    let starts = 0
    const pool = new Sandbox(noTimers, () => {
      starts++
      throw new Error('no more threads')
    })
    await expect(pool.evaluate('a', {})).rejects.toBeInstanceOf(ExpressionFailed)
    await expect(pool.evaluate('b', {})).rejects.toThrow('no thread')
    expect([starts, pool.pending]).toEqual([2, 0])
  })

  it('serve the project with the least use first', async () => {
    const { pool, threads, alarms } = open()
    const hog = { usedMs: 0 }
    const other = { usedMs: 0 }
    const values = ['a', 'b', 'c'].map((expression) => pool.evaluate(expression, {}, hog))
    values.push(pool.evaluate('d', {}, other))
    threads[0]?.reply({ value: '1', ms: 150 })
    expect([threads[0]?.jobs, hog.usedMs]).toEqual([['a', 'd'], 150])
    threads[0]?.reply({ value: '2', ms: 1 })
    expect(threads[0]?.jobs).toEqual(['a', 'd', 'c'])
    alarms[0]?.()
    await expect(values[1]).rejects.toThrow('does not answer')
    expect([hog.usedMs, other.usedMs]).toEqual([2150, 1])
    threads[0]?.reply({ value: '3', ms: 1 })
    expect(await Promise.all([values[0], values[2], values[3]])).toEqual([1, 3, 2])
  })

  it('reject the project with the most use if too many expressions wait', async () => {
    const { pool } = open()
    const hog = { usedMs: 100 }
    const other = { usedMs: 0 }
    const waiting = Array.from({ length: 202 }, () => pool.evaluate('a', {}, hog))
    const last = waiting.at(-1)
    const kept = pool.evaluate('b', {}, other)
    await expect(last).rejects.toThrow('too many')
    expect(pool.pending).toBe(202)
    const over = Promise.allSettled([...waiting, kept])
    await pool.close()
    expect((await over).at(-1)).toMatchObject({ reason: { message: 'the threads are closed' } })
  })

  it('queue at most 200 expressions', async () => {
    const { pool } = open()
    const waiting = Array.from({ length: 202 }, () => pool.evaluate('a', {}))
    await expect(pool.evaluate('b', {})).rejects.toThrow('too many')
    const over = Promise.allSettled(waiting)
    await pool.close()
    expect((await over).every(({ status }) => status === 'rejected')).toBe(true)
    expect(pool.pending).toBe(0)
    await expect(pool.evaluate('c', {})).rejects.toThrow('closed')
  })
})
