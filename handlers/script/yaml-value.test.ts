import { afterEach, describe, expect, it, vi } from 'vitest'
import { Alias, parseDocument } from 'yaml'
import { faultsOfText } from '../testing/test-scripts.ts'
import { YamlValue } from './yaml-value.ts'

afterEach(() => void vi.restoreAllMocks())

const bounds = { most: 100_000, deepest: 100 }
const read = (text: string, { most, deepest }: Partial<typeof bounds> = {}) =>
  new YamlValue(parseDocument(text, { uniqueKeys: false, stringKeys: true }), {
    maxValues: most ?? bounds.most,
    maxDepth: deepest ?? bounds.deepest,
  })

/** List whose items all have an anchor, and nested lists with aliases of these items. */
const aliases = (n: number): string => {
  const names = Array.from({ length: n }, (_, i) => `a${i}`)
  const all = names.map((name) => `*${name}`).join(',')
  return `- [${names.map((name) => `&${name} 1`).join(',')}]\n- &b [${all}]\n- *b\n- &c [*b]\n- *c\n- *c\n`
}

describe('the value of YAML', () => {
  it('equals the value that the library reads', () => {
    const text = `a: &a { k: [1, "x", null, true, 1.5, ~], '': }\nb: *a\n&key c: *key\n"__proto__": { x: 1 }\nd: [*a, &a 2, *a]\n`
    const document = parseDocument(text, { uniqueKeys: false, stringKeys: true })
    expect(document.errors).toEqual([])
    const { value } = read(text)
    expect(value).toEqual(document.toJS())
    expect(Object.keys(value as object)).toEqual(['a', 'b', 'c', '__proto__', 'd'])
    for (const empty of ['', '# nothing', '~']) expect(read(empty).value).toBeNull()
  })

  it('takes linear time, without a search for the anchor of an alias', () => {
    const search = vi.spyOn(Alias.prototype, 'resolve')
    const steps = (n: number) => read(aliases(n)).steps
    expect(steps(2000)).toBeLessThan(2.1 * steps(1000))
    expect(steps(2000)).toBeLessThan(aliases(2000).length)
    const hostile = aliases(4000)
    expect(faultsOfText(hostile)).toMatchObject([{ code: 'relay_script_element_wrong_type' }])
    const script = (text: string) =>
      `sections:\n  main:\n    - set: { a: &a { x: ${text} }, b: *a }\n    - dance: *a\n`
    expect(faultsOfText(script('1'))).toMatchObject([{ line: 4, column: 7 }])
    expect(search).not.toHaveBeenCalled()
  })

  it('is limited in the number of values, counting each use of an alias', () => {
    const text = 'a: &a [1, 2]\nb: [*a, *a]\n'
    expect(read(text, { most: 11 }).value).toEqual({
      a: [1, 2],
      b: [
        [1, 2],
        [1, 2],
      ],
    })
    expect(() => read(text, { most: 10 })).toThrow('With its aliases the script has more than 10 values.')
  })

  it('is limited in depth, including the depth behind aliases', () => {
    const text = 'a: &a [[1]]\nb: [*a]\n'
    expect(read(text, { deepest: 6 }).value).toMatchObject({ b: [[[1]]] })
    expect(() => read(text, { deepest: 5 })).toThrow('nested more than 5 levels deep')
    expect(() => read('[[[1]]]', { deepest: 3 })).toThrow('nested more than 3 levels deep')
  })

  it.each([
    ['a: *a', 'The alias a has no anchor before it.', 3],
    ['a: &a { b: *a }', 'The alias a is inside its own anchor.', 11],
    ['a: 1\nb: 2\na: 3', 'The key a is duplicated.', 10],
  ])('is undefined for %j', (text, message, at) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ message, at }))
  })
})

it.each([
  ['a script', 'sections: { main: [hangup] }', 0],
  ['one with many errors', ']'.repeat(1000), 1],
  ['one that exhausts the parser', `${'- '.repeat(30_000)}\nx`, 1],
])('restores error stacks after %s', (_what, text, faults) => {
  const { stackTraceLimit } = Error
  expect(stackTraceLimit).toBeGreaterThan(0)
  expect(faultsOfText(text)).toHaveLength(faults)
  expect(Error.stackTraceLimit).toBe(stackTraceLimit)
})
