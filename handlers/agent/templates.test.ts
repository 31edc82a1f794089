import { describe, expect, it } from 'vitest'
import { fill } from './templates.ts'

const values = {
  args: { city: 'São Paulo', n: 5, list: [1, 2], 'full name': 'Ada' },
  input: { args: { city: 'Rome' } },
  global_data: { user: { name: 'Ada' } },
  array: [{ joke: 'Knock' }],
  this: { title: 'One' },
  call_id: 'c1',
  none: null,
}

describe('a template', () => {
  it.each([
    ['%{args.city}', 'São Paulo'],
    [`\${args.city}!`, 'São Paulo!'],
    ['%{args.n}', 5],
    ['%{args.n} of %{call_id}', '5 of c1'],
    ['%{args.list}', [1, 2]],
    ['list %{args.list}', 'list [1,2]'],
    ['%{args.list[1]}', 2],
    ['%{input.args.city}', 'Rome'],
    ['%{global_data.user.name}', 'Ada'],
    ['%{array[0].joke}', 'Knock'],
    ['%{this.title}', 'One'],
    ['%{ args.n }', 5],
    ['%{args.full name}', 'Ada'],
    ['%{lc:args.city}', 'são paulo'],
    ['q=%{enc:url:args.city}', 'q=S%C3%A3o%20Paulo'],
    ['q=%{lc:enc:url:args.city}', 'q=s%C3%A3o%20paulo'],
    ['q=%{enc:url:lc:args.full name}', 'q='],
    ['%{args.none}', ''],
    ['%{none}', ''],
    ['a %{nothing.at.all} b', 'a  b'],
    ['%{constructor.name}%{args.__proto__}', ''],
    ['%{1 + 1}', ''],
    ['%{open', '%{open'],
    ['%{}', ''],
    [7, 7],
    [null, null],
  ])('%j becomes %j', (template, expected) => {
    expect(fill(template, values)).toEqual(expected)
  })

  it('is filled in all texts of a value, but not in keys', () => {
    expect(fill({ '%{call_id}': ['%{call_id}', { a: '%{args.n}' }], b: true }, values)).toEqual({
      '%{call_id}': ['c1', { a: 5 }],
      b: true,
    })
  })

  it('is not filled twice', () => {
    expect(fill('%{args.a}', { args: { a: '%{args.b}', b: 'secret' } })).toBe('%{args.b}')
    expect(fill('x %{args.a}', { args: { a: '%{args.b}', b: 'secret' } })).toBe('x %{args.b}')
  })

  it('keeps a key that is a name of the language', () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": "%{call_id}"}}')
    const filled = fill(hostile, values) as object
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype)
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"polluted":"c1"}}')
  })

  it('inserts at most 131,072 characters', () => {
    const long = { args: { a: 'x'.repeat(10_000) } }
    const text = fill('%{args.a} '.repeat(5000), long) as string
    expect(text.length).toBeLessThan(131_072 + 5000)
    const list = fill(new Array(10_000).fill('%{args.a}'), long) as string[]
    expect(list.join('').length).toBeLessThan(131_072)
    expect(fill('%{'.repeat(100_000), long)).toHaveLength(200_000)
  })
})
