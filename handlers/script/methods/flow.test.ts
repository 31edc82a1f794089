// biome-ignore-all lint/suspicious/noThenProperty: `then` is a key of the language
import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { faultsOf, type On, TestScripts } from '../../testing/test-scripts.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const nap = (ms: unknown) => ({ sleep: ms })

/** Durations of the sleeps that ran, which identify the steps. */
const naps = async (main: readonly unknown[], on: On = {}) => {
  const { verbs, warnings } = await scripts.run(main, on)
  return [...verbs.map(([, ms]) => ms), ...warnings]
}

describe('cond', () => {
  const choose = [
    { cond: [{ when: 'n > 5', then: [nap(1)] }, { when: 'n > 3', then: [nap(2)] }, { else: [nap(3)] }] },
    nap(9),
  ]

  it.each([
    [7, [1, 9]],
    [4, [2, 9]],
    [0, [3, 9]],
  ])('runs the steps of the first condition that holds: %i', async (n, ran) => {
    expect(await naps([{ set: { n } }, ...choose])).toEqual(ran)
  })

  it('reads a plain path, and treats an unset one as false', async () => {
    const cond = [
      { when: 'vars.none', then: [nap(1)] },
      { when: 'call.type', then: [nap(2)] },
    ]
    expect(await naps([{ cond }])).toEqual([2])
    expect(
      await naps([{ cond: [{ when: true, then: [nap(1)] }] }, { cond: [{ when: 'false', then: [nap(2)] }] }]),
    ).toEqual([1])
  })

  it('runs the else of a false condition, and evaluates no other', async () => {
    const cond = [
      { when: 'false', then: [nap(1)], else: [nap(2)] },
      { when: 'true', then: [nap(3)] },
    ]
    expect(await naps([{ cond }])).toEqual([2])
  })

  it('treats a condition that cannot be evaluated as false, and warns', async () => {
    expect(await naps([{ cond: [{ when: 'absent > 1', then: [nap(1)] }, { else: [nap(2)] }] }])).toEqual([
      2,
      '/sections/main/0/cond js_eval_error',
    ])
  })

  it('is rejected for a missing or surplus part', () => {
    const fault = (cond: unknown) => faultsOf([{ cond }])
    expect(fault({})).toEqual(['/0/cond method_parameter_invalid_value'])
    expect(fault([1])).toEqual(['/0/cond/0 method_parameter_invalid_value'])
    expect(fault([{ when: 'a' }])).toEqual(['/0/cond/0 method_parameter_missing'])
    expect(fault([{ then: [] }])).toEqual([
      '/0/cond/0 method_parameter_missing',
      '/0/cond/0/then method_parameter_undefined',
    ])
    expect(fault([{ else: [] }, { else: [] }])).toEqual(['/0/cond/1 method_parameter_conflict'])
    expect(fault([{ else: [] }, { when: 'a', then: [] }])).toEqual(['/0/cond/1 method_parameter_conflict'])
    expect(fault([{ when: 'x'.repeat(1025), then: [] }])).toEqual([
      '/0/cond/0/when method_parameter_invalid_value',
    ])
    expect(fault([{ when: 'a', then: ['dance'] }])).toEqual(['/0/cond/0/then/0 method_undefined'])
  })
})

describe('switch', () => {
  const by = (more: object = {}) => ({
    switch: { variable: 'vars.key', case: { 1: [nap(1)], two: [nap(2)] }, ...more },
  })

  it('runs the steps for the value of a variable as text', async () => {
    expect(await naps([{ set: { key: 1 } }, by(), nap(9)])).toEqual([1, 9])
    expect(await naps([{ set: { key: 'two' } }, by(), nap(9)])).toEqual([2, 9])
    expect(await naps([{ set: { key: 'three' } }, by({ default: [nap(3)] }), nap(9)])).toEqual([3, 9])
  })

  it('warns if no case matches and no default exists', async () => {
    expect(await naps([by(), nap(9)])).toEqual([9, '/sections/main/0/switch method_no_matching_condition'])
  })

  it('is rejected for a missing or unknown part', () => {
    const fault = (given: unknown) => faultsOf([{ switch: given }])
    expect(fault([])).toEqual(['/0/switch method_parameter_invalid_value'])
    expect(fault({ case: {} })).toEqual(['/0/switch method_parameter_missing'])
    expect(fault({ variable: 'a' })).toEqual(['/0/switch method_parameter_missing'])
    expect(fault({ variable: '', case: {} })).toEqual(['/0/switch/variable method_parameter_invalid_value'])
    expect(fault({ variable: 'a', case: { x: 1 } })).toEqual(['/0/switch/case/x element_wrong_type'])
    expect(fault({ variable: 'a', case: {}, other: 1 })).toEqual([
      '/0/switch/other method_parameter_undefined',
    ])
  })
})

describe('goto', () => {
  it('jumps to a label of its list, at most max times', async () => {
    expect(await naps([{ label: 'a' }, nap(1), { goto: { label: 'a', max: 2 } }, nap(2)])).toEqual([
      1, 1, 1, 2,
    ])
    expect(await naps([{ goto: { label: 'b' } }, nap(1), { label: 'b' }, nap(2)])).toEqual([2])
    const often = await naps([{ label: 'a' }, nap(1), { goto: { label: 'a' } }, nap(2)])
    expect([often.length, often.at(-1)]).toEqual([102, 2])
  })

  it('jumps if its condition holds', async () => {
    const count = { set: { n: '%{vars.n + 1}' } }
    const steps = [
      { set: { n: 0 } },
      { label: 'a' },
      count,
      nap('%{n}'),
      { goto: { label: 'a', when: 'n < 3' } },
    ]
    expect(await naps(steps)).toEqual([1, 2, 3])
  })

  it('jumps to a label of an enclosing list', async () => {
    const again = { cond: [{ when: 'true', then: [{ goto: { label: 'a', max: 1 } }, nap(2)] }] }
    expect(await naps([{ label: 'a' }, nap(1), again])).toEqual([1, 1, 2])
  })

  it('counts from zero at each run of its section', async () => {
    const sections = { twice: [{ label: 'a' }, nap(1), { goto: { label: 'a', max: 1 } }] }
    const both = [{ execute: { dest: 'twice' } }, { execute: { dest: 'twice' } }]
    expect(await naps(both, { sections })).toEqual([1, 1, 1, 1])
  })

  it('is rejected without its label', () => {
    expect(faultsOf([{ goto: { label: 'a' } }])).toEqual(['/0/goto/label method_parameter_invalid_value'])
    expect(faultsOf([{ goto: { label: 'a' } }], { other: [{ label: 'a' }] })).toHaveLength(1)
    expect(faultsOf([{ label: 'a' }, { label: 'a' }])).toEqual(['/1 element_duplicated'])
    expect(faultsOf([{ label: 'a' }, { goto: { label: 'a', max: 101 } }])).toEqual([
      '/1/goto/max method_parameter_invalid_value',
    ])
  })

  it('ends the script after 32 consecutive jumps', async () => {
    expect(await naps([{ label: 'a' }, { goto: { label: 'a' } }, nap(1)])).toEqual([
      '/sections/main/1/goto too_many_transfers',
    ])
  })
})

describe('execute', () => {
  it('runs a section with its params, and continues with the returned value', async () => {
    const sections = { sum: [{ return: '%{params.a + params.b}' }, nap(1)] }
    const steps = [{ execute: { dest: 'sum', params: { a: 1, b: '%{two}' } } }, nap('%{return_value}')]
    expect(await naps([{ set: { two: 2 } }, ...steps], { sections })).toEqual([3])
  })

  it('replaces params, and restores them', async () => {
    const sections = {
      outer: [{ execute: { dest: 'inner', params: { b: 2 } } }, nap('%{params.a}')],
      inner: [{ cond: [{ when: 'params.a', then: [nap(8)] }, { else: [nap('%{params.b}')] }] }],
    }
    expect(await naps([{ execute: { dest: 'outer', params: { a: 1 } } }], { sections })).toEqual([2, 1])
  })

  it('keeps variables, and has no value if the section returns none', async () => {
    const sections = { set: [{ set: { x: 5 } }] }
    const steps = [{ set: { return_value: 7 } }, { execute: { dest: 'set' } }, nap('%{x}')]
    expect(
      await naps([...steps, { switch: { variable: 'return_value', case: { '': [nap(1)] } } }], { sections }),
    ).toEqual([5, 1])
  })

  it('runs on_return, then the branch of result', async () => {
    const sections = { five: [{ return: 5 }] }
    const result = { case: { 5: [nap(2)] }, default: [nap(3)] }
    const execute = { dest: 'five', meta: { any: 1 }, on_return: [nap(1)], result }
    expect(await naps([{ execute }], { sections })).toEqual([1, 2])
    const byCondition = [{ when: 'return_value == 5', then: [nap(4)] }]
    expect(await naps([{ execute: { dest: 'five', result: byCondition } }], { sections })).toEqual([4])
  })

  it('runs the script at a URL, requested with the call, the variables and its params', async () => {
    const url = 'https://app.example/sub'
    const context = new FakeContext({
      [url]: '{"sections":{"main":[{"execute":{"dest":"own"}}],"own":[{"return":3}]}}',
    })
    const execute = { dest: '%{call.headers[0].value}', params: { p: 2 } }
    const call = new FakeCall({ headers: [{ name: 'X-Url', value: url }] })
    expect(await naps([{ set: { x: 1 } }, { execute }, nap(1)], { context, call })).toEqual([1])
    expect(context.requests).toMatchObject([
      { url, method: 'POST', body: { contentType: 'application/json' } },
    ])
    expect(JSON.parse(context.requests[0]?.body?.text ?? '')).toMatchObject({
      call: { call_id: 'c-1' },
      vars: { x: 1 },
      params: { p: 2 },
    })
  })

  it('runs a script contained in the script', async () => {
    const dest = JSON.stringify({ sections: { main: [nap(1), { return: 2 }] } })
    expect(await naps([{ execute: { dest } }, nap('%{return_value}')])).toEqual([1, 2])
  })

  it('fails and continues if the script is missing or invalid', async () => {
    const url = 'https://app.example/sub'
    const context = new FakeContext({ [url]: '{"sections":{"main":["dance"]}}' })
    expect(await naps([{ execute: { dest: url } }, nap(1)], { context })).toEqual([
      1,
      '/sections/main/0 method_undefined',
      '/sections/main/0/execute method_undefined',
    ])
    expect(await naps([{ execute: { dest: 'https://app.example/none' } }, nap(1)])).toEqual([
      1,
      '/sections/main/0/execute fetch_failed',
    ])
    for (const dest of ['relay:x', '%{call.type}'])
      expect(await naps([{ execute: { dest } }, nap(1)])).toEqual([
        1,
        '/sections/main/0/execute method_parameter_invalid_value',
      ])
  })

  it('is rejected for an unknown section', () => {
    expect(faultsOf([{ execute: { dest: 'none' } }])).toEqual([
      '/0/execute/dest method_parameter_invalid_value',
    ])
  })

  it('fails if too many sections are nested', async () => {
    const sections = { deep: [nap(1), { execute: { dest: 'deep' } }] }
    const ran = await naps([{ execute: { dest: 'deep' } }, nap(9)], { sections })
    expect(ran.filter((ms) => ms === 1)).toHaveLength(31)
    expect(ran.slice(-2)).toEqual([9, '/sections/deep/1/execute nested_too_deep'])
  })
})

describe('return', () => {
  it('ends the script outside of execute, with any value', async () => {
    for (const step of ['return', { return: null }, { return: { a: [1] } }])
      expect(await naps([nap(1), step, nap(2)])).toEqual([1])
  })

  it('returns from nested conditions, with the value and its type', async () => {
    const sections = {
      pick: [{ cond: [{ when: 'true', then: [{ return: { a: ['%{call.type}'] } }] }] }, nap(1)],
    }
    const text = await scripts.say(
      '%{return_value.a[0]} %{typeof return_value}',
      [{ execute: { dest: 'pick' } }],
      { sections },
    )
    expect(text).toBe('sip object')
  })
})

describe('transfer', () => {
  it('continues with a section, and does not return', async () => {
    const sections = {
      other: [nap('%{params.ms}')],
      middle: [{ transfer: { dest: 'other', params: { ms: 4 }, meta: {} } }, nap(1)],
    }
    expect(await naps([{ transfer: { dest: 'other', params: { ms: 3 } } }, nap(2)], { sections })).toEqual([
      3,
    ])
    expect(await naps([{ execute: { dest: 'middle' } }, nap(2)], { sections })).toEqual([4])
  })

  it('continues with the script at a URL or in the document, whose sections then apply', async () => {
    const url = 'https://app.example/next'
    const context = new FakeContext({
      [url]: 'sections:\n  main:\n    - transfer: { dest: own }\n  own: [{ sleep: 5 }]\n',
    })
    expect(await naps([{ transfer: { dest: url } }, nap(1)], { context })).toEqual([5])
    const dest = JSON.stringify({ sections: { main: [nap(6)] } })
    expect(await naps([{ transfer: { dest } }, nap(1)])).toEqual([6])
  })

  it('that fails causes a warning, and the next step runs', async () => {
    expect(await naps([{ transfer: { dest: 'https://app.example/none' } }, nap(1)])).toEqual([
      1,
      '/sections/main/0/transfer fetch_failed',
    ])
  })

  it('in a circle ends the script after 32 rounds without a verb', async () => {
    const circle = { again: [{ transfer: { dest: 'again' } }] }
    expect(await naps([{ transfer: { dest: 'again' } }], { sections: circle })).toEqual([
      '/sections/again/0/transfer too_many_transfers',
    ])
    const slow = { again: [nap(1), { transfer: { dest: 'again' } }] }
    const ran = await naps([{ transfer: { dest: 'again' } }], { sections: slow })
    expect([ran.length > 1000, ran.at(-1)]).toEqual([true, expect.stringContaining('too_many_transfers')])
    const call = new FakeCall()
    const context = new FakeContext()
    call.during.set('sleep', () => {
      context.time += 1000
      if (call.verbs.length === 20_000) call.end()
    })
    await naps([{ transfer: { dest: 'again' } }], { sections: slow, call, context })
    expect([call.verbs.length, context.warnings]).toEqual([20_000, []])
  })
})

describe('nested steps', () => {
  it('may be 16 lists deep', () => {
    const nested = (depth: number): unknown =>
      depth === 0 ? 'answer' : { cond: [{ when: 'true', then: [nested(depth - 1)] }] }
    expect(faultsOf([nested(15)])).toEqual([])
    expect(faultsOf([nested(16)])[0]).toContain('nested_too_deep')
  })

  it('are logged, each with its location and method', async () => {
    const { context } = await scripts.run([{ cond: [{ when: 'true', then: [nap(1)] }] }, 'answer'])
    expect(context.steps).toEqual([
      { path: '/sections/main/0/cond', method: 'cond' },
      { path: '/sections/main/0/cond/0/then/0/sleep', method: 'sleep' },
      { path: '/sections/main/1', method: 'answer' },
    ])
  })
})
