import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../handler.ts'
import { readFlowDocument } from './document.ts'
import { kinds } from './kinds.ts'
import { flowSchema } from './schema.ts'

const faults = (document: unknown): string[] => {
  try {
    readFlowDocument({ text: typeof document === 'string' ? document : JSON.stringify(document) })
    return []
  } catch (error) {
    if (!(error instanceof DocumentInvalid)) throw error
    return error.faults.map(({ path, code }) => `${path} ${code}`)
  }
}
const withStart = (nodes: object, next = 'a') => ({
  nodes: { begin: { kind: 'start', edges: { next } }, ...nodes },
})
const bye = { kind: 'hang_up' }

describe('a call flow is rejected', () => {
  it.each([
    ['without an entry', { nodes: { a: bye } }, ['/nodes flow_entry_missing']],
    [
      'with two entries',
      { nodes: { a: { kind: 'start' }, b: { kind: 'start' } } },
      ['/nodes/b flow_entry_duplicated', '/nodes/b flow_node_unreachable'],
    ],
    [
      'with a kind that there is not',
      withStart({ a: { kind: 'fax' } }),
      ['/nodes/a flow_kind_undefined', '/nodes/begin/edges/next flow_edge_dangling'],
    ],
    [
      'with an edge to nowhere',
      withStart({ a: { kind: 'answer', edges: { next: 'x' } } }),
      ['/nodes/a/edges/next flow_edge_dangling'],
    ],
    [
      'with an outcome that a node has not',
      withStart({ a: { ...bye, edges: { next: 'a' } } }),
      ['/nodes/a/edges/next flow_outcome_undefined'],
    ],
    [
      'with an outcome that no choice has',
      withStart({
        a: {
          kind: 'gather',
          options: { play: 'say:x', choices: [{ name: 'one', digits: '1' }] },
          edges: { two: 'a' },
        },
      }),
      ['/nodes/a/edges/two flow_outcome_undefined'],
    ],
    [
      'with a condition that cannot be evaluated',
      withStart({
        a: { kind: 'conditions', options: { conditions: [{ name: 'one', when: 'x'.repeat(1025) }] } },
      }),
      ['/nodes/a/options/conditions relay_script_method_parameter_invalid_value'],
    ],
    [
      'with an expression that is not closed, in an option that is none of the script',
      withStart({ a: { kind: 'forward', options: { to: [{ to: '%{' }] } } }),
      ['/nodes/a/options relay_script_js_eval_error'],
    ],
    ['with a list as a kind', { nodes: { a: { kind: ['start'] } } }, ['/nodes/a flow_kind_undefined']],
    [
      'with an outcome twice',
      withStart({
        a: {
          kind: 'conditions',
          options: { conditions: [{ name: 'else', when: 'true' }] },
        },
      }),
      ['/nodes/a/options flow_outcome_duplicated'],
    ],
    [
      'with a node that nothing leads to',
      withStart({ a: bye, b: { kind: 'answer', edges: { next: 'b' } } }),
      ['/nodes/b flow_node_unreachable'],
    ],
    [
      'with an edge to the start',
      withStart({ a: { kind: 'answer', edges: { next: 'begin' } } }),
      ['/nodes/a/edges/next flow_edge_to_entry'],
    ],
    [
      'without a needed option',
      withStart({ a: { kind: 'forward' } }),
      ['/nodes/a/options flow_option_missing'],
    ],
    [
      'with an option that there is not',
      withStart({ a: { ...bye, options: { why: 1 } } }),
      ['/nodes/a/options/why flow_option_undefined'],
    ],
    [
      'with a bad option',
      withStart({ a: { ...bye, options: { reason: 'tired' } } }),
      ['/nodes/a/options/reason flow_option_invalid_value'],
    ],
    [
      'with a sound that is none',
      withStart({ a: { kind: 'play', options: { url: 'beep:1' } } }),
      ['/nodes/a/options/url relay_script_method_parameter_invalid_value'],
    ],
    [
      'with JavaScript that is too long',
      withStart({
        a: {
          kind: 'conditions',
          options: { conditions: [{ name: 'x', when: `1 == ${'1'.repeat(1100)}` }] },
        },
      }),
      [expect.stringContaining('/nodes/a/options') as unknown as string],
    ],
    ['of another version', { version: '2', ...withStart({ a: bye }) }, ['/version flow_version_invalid']],
    [
      'with other elements',
      { ...withStart({ a: { ...bye, colour: 'red' } }), name: 'x' },
      ['/name flow_element_undefined', '/nodes/a/colour flow_element_undefined'],
    ],
    ['that is a list', [], [' flow_element_wrong_type']],
    ['whose nodes are a list', { nodes: [] }, ['/nodes flow_element_wrong_type']],
    ['with a bad id', withStart({ 'a b': bye }, 'a b'), ['/nodes/a b flow_element_wrong_type']],
    [
      'with too many nodes',
      {
        nodes: Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`n${i}`, bye])),
      },
      ['/nodes flow_too_many_nodes'],
    ],
  ])('%s', (_, document, expected) => {
    expect(faults(document)).toEqual(expected)
  })

  it('with the location of each fault', () => {
    const text = 'nodes:\n  a:\n    kind: start\n    edges:\n      next: b\n'
    expect(() => readFlowDocument({ text })).toThrow(
      expect.objectContaining({ faults: [expect.objectContaining({ line: 5, column: 7 })] }),
    )
  })
})

describe('a call flow', () => {
  it('may fill the maximum length, although the compiled script is longer', () => {
    const choices = Array.from({ length: 50 }, (_, i) => ({ name: `c${i}`, digits: String(i) }))
    const edges = Object.fromEntries(choices.map(({ name }) => [name, 'm0']))
    const nodes = Object.fromEntries(
      Array.from({ length: 25 }, (_, i) => [
        `m${i}`,
        { kind: 'gather', options: { play: 'say:x', choices }, edges: { ...edges, c1: `m${(i + 1) % 25}` } },
      ]),
    )
    expect(faults(withStart(nodes, 'm0'))).toEqual([])
  })

  it('has node kinds whose names differ from all methods', () => {
    const { program } = readFlowDocument({
      text: JSON.stringify(withStart({ a: { kind: 'answer', edges: { next: 'main' } }, main: bye })),
    })
    expect([...program.sections.keys()]).toEqual(['node:begin', 'main', 'node:a', 'node:main'])
  })
})

describe('the schema of call flows', () => {
  it('matches the published file', () => {
    const written = JSON.parse(readFileSync(new URL('schema.json', import.meta.url), 'utf8'))
    expect(written).toEqual(flowSchema)
  })

  it('accepts and rejects the same documents as the reader', () => {
    const validate = new Ajv({
      strict: true,
      allowUnionTypes: true,
      strictTypes: false,
      strictRequired: false,
    }).compile(flowSchema)
    expect(validate(withStart({ a: { ...bye, label: 'Bye', position: { x: 1, y: 2 } } }))).toBe(true)
    expect(validate(withStart({ a: { kind: 'fax' } }))).toBe(false)
    expect(validate(withStart({ a: { ...bye, options: { reason: 'tired' } } }))).toBe(false)
    expect(Object.keys(kinds)).toHaveLength(16)
  })
})
