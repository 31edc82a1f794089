import { describe, expect, it } from 'vitest'
import { allFindings, findingsIn, namingFindings, trackedPaths } from './words.ts'

const found = (source: string, path = 'gateway/calls/x.ts'): string[] =>
  findingsIn(path, source).map(({ line, rule }) => `${line} ${rule}`)

/** Long sentences of a source, whose lines are as long as the test needs. */
const longSentences = (source: string): string[] =>
  found(source).filter((finding) => finding.endsWith('long-sentence'))

const words = (count: number): string => Array.from({ length: count }, () => 'leg').join(' ')

describe('doc comments', () => {
  it.each([
    'What a leg sends.',
    'Whose leg it is.',
    'With what it starts.',
    'Told of the end.',
    'That of a leg.',
  ])('must not open with “%s”', (text) => {
    expect(found(`/** ${text} */\nexport const a = 1\n`)).toContain('1 doc-opening')
  })

  it.each(['Whether the leg is held.', 'Maximum number of legs.', 'Returns what a leg sent.'])(
    'may open with “%s”',
    (text) => {
      expect(found(`/** ${text} */\nexport const a = 1\n`)).toEqual([])
    },
  )

  it('are checked across several lines', () => {
    expect(found('/**\n * How it\n * goes.\n */\nexport const a = 1\n')).toEqual(['1 doc-opening'])
  })

  it('have rules for their opening that other comments do not have', () => {
    expect(found('// How this works: it starts.\nexport const a = 1\n')).toEqual([])
  })
})

describe('banned words', () => {
  it('are found in comments, at their lines, and across the end of a line', () => {
    expect(found('/**\n * A leg\n * that somebody holds. A name is\n * to be sent.\n */\n')).toEqual([
      '3 banned-word',
      '3 banned-word',
    ])
  })

  it('are found in messages and names of tests', () => {
    expect(found("it('tells whom it rang', () => {})\n")).toEqual(['1 banned-word'])
    expect(found('throw new Error(`nobody answered`)\n')).toEqual(['1 banned-word'])
  })

  it('are ignored in names, addresses and code of comments', () => {
    expect(found("const a = 'sip:nobody@example.com' + nobodyElse\n")).toEqual([])
    expect(found('// `nobody` may wait 20 us, as in the US.\n')).toEqual([])
  })

  it('that are pronouns are allowed in code', () => {
    expect(found("const language = 'en-us' + us\n")).toEqual([])
    expect(found('// Our leg.\n')).toEqual(['1 banned-word'])
  })
})

describe('long sentences', () => {
  it('have more than 25 words', () => {
    expect(longSentences(`// ${words(25)}.\n`)).toEqual([])
    expect(longSentences(`// ${words(13)}\n// ${words(13)}.\n`)).toEqual(['1 long-sentence'])
  })

  it('end with a full stop, a paragraph, an item of a list, a drawing and a block of code', () => {
    const half = words(20)
    expect(longSentences(`// ${half}. ${half}.\n`)).toEqual([])
    expect(longSentences(`/**\n * ${half}\n *\n * ${half}\n */\n`)).toEqual([])
    expect(longSentences(`/**\n * ${half}:\n * - ${half}\n * - ${half}\n */\n`)).toEqual([])
    expect(longSentences(`/**\n * ${half}\n * a ──► b\n * ${half}\n */\n`)).toEqual([])
    expect(longSentences(`/**\n * \`\`\`\n * ${half}\n * ${half}\n * \`\`\`\n */\n`)).toEqual([])
  })

  it('do not end with an abbreviation', () => {
    expect(longSentences(`// ${words(13)}, e.g. ${words(13)}.\n`)).toEqual(['1 long-sentence'])
  })

  it('count code, a link and a quotation as one word', () => {
    expect(longSentences(`// A \`${words(30)}\` and "${words(30)}" at https://example.com/a.\n`)).toEqual([])
  })
})

describe('long lines', () => {
  const long = 'x'.repeat(120)

  it('are found in comments and code', () => {
    expect(found(`// ${long}\n`)).toEqual(['1 long-line'])
    expect(found(`const a = '${long}'\n`)).toEqual(['1 long-line'])
  })

  it('are allowed for addresses, regular expressions, imports and texts of tests', () => {
    expect(found(`// https://${long}\n`)).toEqual([])
    expect(found(`const a = /${long}/u\n`)).toEqual([])
    expect(found(`import { a } from './${long}.ts'\n`)).toEqual([])
    expect(found(`const a = '${long}'\n`, 'gateway/x.test.ts')).toEqual([])
    expect(found(`// ${long}\n`, 'gateway/x.test.ts')).toEqual(['1 long-line'])
  })
})

describe('calls of a logger', () => {
  it.each([
    "log.info('call ended')",
    "this.#log.warn({ code }, 'call rejected')",
    "this.#deps.log.error(facts, 'call failed')",
    "log.child({ call }).fatal({ code, event: 'a.b' }, 'm')",
    "log[level]({ code }, 'm')",
    "log.info(a ? { event: 'a.b' } : { code }, 'm')",
  ])('without an event are found: %s', (call) => {
    expect(found(`${call}\n`)).toEqual(['1 log-event'])
  })

  it.each([
    "log.info({ event: 'call.ended' }, 'call ended')",
    "log?.warn({ event, code }, 'm')",
    "const facts = { event: 'call.ended' }\nlog.info(facts, 'm')",
    "const facts = { event: 'call.ended' }\nlog.info({ ...facts, code }, 'm')",
    "log.info(a ? { event: 'a.b' } : { event: 'a.c' }, 'm')",
    "log.debug('m')",
    "reader.error('m')",
  ])('with an event are accepted: %s', (call) => {
    expect(found(`${call}\n`)).toEqual([])
  })

  it('have the fields of the constant before them, if functions of a file share a name', () => {
    const logged = (fields: string) => `{ const facts = { ${fields} }\nlog.info(facts, 'm') }\n`
    expect(found(logged('code') + logged("event: 'call.ended'"))).toEqual(['2 log-event'])
    expect(found(logged("event: 'call.ended'") + logged('code'))).toEqual(['4 log-event'])
  })

  it('are checked only in the server, outside of tests', () => {
    expect(found("log.info('m')\n", 'gateway/x.test.ts')).toEqual([])
    expect(found("log.info('m')\n", 'client/src/x.ts')).toEqual([])
  })

  it('must have event keys of the standard form', () => {
    expect(found("log.info({ event: 'trunk.registration-failed' }, 'm')\n")).toEqual([])
    expect(found("log.info({ event: 'trunk.registration_failed' }, 'm')\n")).toEqual(['1 event-form'])
    expect(found("log.info({ event: 'Trunk' }, 'm')\n")).toEqual(['1 event-form'])
  })
})

describe('code', () => {
  it.each(['f({ ...{ a, b } })', 'f([...[a, b]])', 'f(...[a, b])', 'f({ ...({ a } as B) })'])(
    'must not have a literal spread: %s',
    (code) => {
      expect(found(`${code}\n`)).toEqual(['1 literal-spread'])
    },
  )

  it.each(['f({ ...a })', 'f({ ...(a && { b }) })', "const a = '...{'"])('may have %s', (code) => {
    expect(found(`${code}\n`)).toEqual([])
  })

  it('must not destructure an array literal, except to exchange two values', () => {
    expect(found('const [a, b] = [1, 2]\n')).toEqual(['1 array-destructuring'])
    expect(found('let a, b\n;[a, b] = [1, 2]\n')).toEqual(['2 array-destructuring'])
    expect(found('let a, b\n;[a, b] = [b, a]\n')).toEqual([])
    expect(found('const [a] = f([1, 2])\n')).toEqual([])
  })

  it('must not have constants in upper case', () => {
    expect(found('export const MAX_LEGS = 1\n')).toEqual(['1 upper-case-constant'])
    expect(found('export const Legs = 1\n')).toEqual([])
  })

  it('must not have a type with the suffix Parts', () => {
    expect(found('interface CallsParts {}\n')).toEqual(['1 type-name'])
    expect(found('type CallsDeps = {}\n')).toEqual([])
  })
})

describe('names of files', () => {
  it('must occur at most twice in the gateway', () => {
    const paths = ['gateway/a/calls.ts', 'gateway/b/calls.ts', 'gateway/b/calls.test.ts', 'client/calls.ts']
    expect(namingFindings(paths)).toEqual([])
    expect(namingFindings([...paths, 'gateway/c/calls.ts'])).toHaveLength(3)
  })

  it('must differ from those of folders beside them', () => {
    expect(namingFindings(['media/types.ts', 'media/types/a.ts']).map(({ path }) => path)).toEqual([
      'media/types.ts',
    ])
  })
})

describe('pages', () => {
  it('are checked for words and sentences, outside code', () => {
    const page = `# Calls\n\nSomebody calls.\n\n| nobody | ${words(20)} |\n\n\`\`\`\nnobody\n\`\`\`\n\n    nobody\n\n- ${words(30)}\n`
    expect(found(page, 'docs/x.md')).toEqual(['3 banned-word', '13 long-sentence'])
  })

  it('have short sentences in tables; a list of names in code counts as one word', () => {
    const names = Array.from({ length: 30 }, (_, index) => `\`name${index}\``).join(', ')
    expect(found(`| ${words(30)} |\n| --- |\n| ${names} |\n`, 'docs/x.md')).toEqual(['1 long-cell'])
    expect(found(`<!-- Written by scripts/document -->\n| ${words(30)} |`, 'docs/x.md')).toEqual([
      '2 long-cell',
    ])
  })

  it('have a text in each head of a table', () => {
    expect(found('| Key | |\n| --- | --- |\n| a | |\n', 'docs/x.md')).toEqual(['1 empty-header'])
    expect(found('| | Key |\n| --- | --- |\n', 'docs/x.md')).toEqual(['1 empty-header'])
    expect(found('| Key | Meaning |\n| --- | --- |\n', 'docs/x.md')).toEqual([])
  })

  it('have no sentence that opens with a pronoun, except for questions', () => {
    expect(found('A call ends. That is logged.\n', 'docs/x.md')).toEqual(['1 vague-opening'])
    expect(found('Who hears nothing is muted.\n', 'docs/x.md')).toEqual(['1 vague-opening'])
    expect(found('### What do I need?\n\nWho calls? A carrier.\n', 'docs/x.md')).toEqual([])
  })

  it('have short lines outside tables and code', () => {
    const long = `${'word '.repeat(20)}. `.repeat(2)
    expect(found(`${long}\n\n| ${long} |\n`, 'docs/x.md')).toEqual(['1 long-line'])
  })

  it('that are generated from the code are not checked', () => {
    expect(found('<!-- Written by scripts/document; do not edit. -->\n\nSomebody.\n', 'docs/x.md')).toEqual(
      [],
    )
  })
})

describe('the whole tree', () => {
  const paths = trackedPaths()
  /** Folder below the root or `gateway`. A test of one part ends in time on a busy machine. */
  const partOf = (path: string): string =>
    path
      .split('/')
      .slice(0, path.startsWith('gateway/') ? 2 : 1)
      .join('/')

  it.each([...new Set(paths.map(partOf))])('breaks no rule of words and shape: %s', (part) => {
    const findings = allFindings([part], paths)
    expect(findings.map(({ path, line, rule, text }) => `${path}:${line} ${rule}: ${text}`)).toEqual([])
  })
})
