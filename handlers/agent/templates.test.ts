import { describe, expect, it } from 'vitest'
import { fill } from './templates.ts'

const now = Date.UTC(2026, 0, 5, 12)

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
    [`%{${'enc:url:'.repeat(5)}args.n}`, ''],
    ['%{args.none}', ''],
    ['%{none}', ''],
    ['a %{nothing.at.all} b', 'a  b'],
    ['%{constructor.name}%{args.__proto__}', ''],
    ['%{1 + 1}', ''],
    ['%{open', '%{open'],
    ['@{strftime_tz Europe/Berlin %H:%M}', '13:00'],
    ['@{strftime_tz Nowhere %H:%M}', ''],
    ['@{expr %{args.n} * 2 + 1}', '11'],
    ['@{expr process.exit()}', ''],
    ['Code @{separate %{args.n}42}.', 'Code 5 4 2.'],
    ['@{echo %{args.city}} of %{call_id}', 'São Paulo of c1'],
    ['@{fmt_ph national %{args.n}}', '@{fmt_ph national 5}'],
    ['%{}', ''],
    [7, 7],
    [null, null],
  ])('%j becomes %j', (template, expected) => {
    expect(fill(template, values, now)).toEqual(expected)
  })

  it('is filled in all texts of a value, but not in keys', () => {
    expect(fill({ '%{call_id}': ['%{call_id}', { a: '%{args.n}' }], b: true }, values, now)).toEqual({
      '%{call_id}': ['c1', { a: 5 }],
      b: true,
    })
  })

  it('is not filled twice', () => {
    expect(fill('%{args.a}', { args: { a: '%{args.b}', b: 'secret' } }, now)).toBe('%{args.b}')
    expect(fill('x %{args.a}', { args: { a: '%{args.b}', b: 'secret' } }, now)).toBe('x %{args.b}')
  })

  it('runs no function of a value', () => {
    expect(fill('%{args.a} @{echo %{args.a}}', { args: { a: '@{expr 1+1}' } }, now)).toBe(
      '@{expr 1+1} @{expr 1+1}',
    )
  })

  it('keeps a key that is a name of the language', () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": "%{call_id}"}}')
    const filled = fill(hostile, values, now) as object
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype)
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"polluted":"c1"}}')
  })

  it('inserts at most 131,072 characters', () => {
    const long = { args: { a: 'x'.repeat(10_000) } }
    const text = fill('%{args.a} '.repeat(5000), long, now) as string
    expect(text.length).toBeLessThan(131_072 + 5000)
    const list = fill(new Array(10_000).fill('%{args.a}'), long, now) as string[]
    expect(list.join('').length).toBeLessThan(131_072)
    expect(fill('%{'.repeat(100_000), long, now)).toHaveLength(200_000)
  })

  it('looks up nothing more once its limit is reached', () => {
    let lookups = 0
    const counted = {
      get x() {
        lookups++
        return 'a'
      },
    }
    fill('%{x}'.repeat(5000), counted, now)
    expect(lookups).toBe(2048)
    lookups = 0
    expect(fill('@{separate %{x}}'.repeat(5000), counted, now)).toBe('a'.repeat(409))
    expect(lookups).toBe(410)
  })

  it('counts each function, also one that gives an empty text', () => {
    expect(fill(`${'@{strftime_tz UTC}'.repeat(3000)}%{call_id}`, values, now)).toBe('')
    expect(fill(`${'@{strftime_tz UTC}'.repeat(100)}%{call_id}`, values, now)).toBe('c1')
  })
})
