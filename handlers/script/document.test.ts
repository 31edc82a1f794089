import { describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../handler.ts'
import { readScriptDocument } from './document.ts'

const script = (...main: unknown[]): string => JSON.stringify({ version: '1.0.0', sections: { main } })

const faultsOf = (text: string) => {
  try {
    readScriptDocument({ text })
  } catch (error) {
    if (error instanceof DocumentInvalid) return error.faults
    throw error
  }
  throw new Error('the document was accepted')
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => ({ to: `+1${i}` }))

describe('a script', () => {
  it('is read from JSON and YAML with the same result', () => {
    const yaml =
      'version: 1.0.0\nsections:\n  main:\n    - answer\n    - play: { url: "say:Hello" }\n    - sleep: 500\n    - hangup:\n'
    const json = script('answer', { play: { url: 'say:Hello' } }, { sleep: 500 }, { hangup: null })
    const main = [
      { method: 'answer', parameters: {}, path: '/sections/main/0' },
      { method: 'play', parameters: { url: 'say:Hello' }, path: '/sections/main/1/play' },
      { method: 'sleep', parameters: { duration: 500 }, path: '/sections/main/2/sleep' },
      { method: 'hangup', parameters: {}, path: '/sections/main/3/hangup' },
    ]
    for (const text of [yaml, json]) {
      const program = readScriptDocument({ text })
      expect(program.main.steps).toEqual(main)
      expect([...program.sections.keys(), program.warnings]).toEqual(['main', []])
    }
  })

  it.each([
    ['brackets', '['.repeat(60_000)],
    ['dashes', '- '.repeat(32_000)],
    ['dashes on a line before others', `${'- '.repeat(30_000)}\nx`],
    ['question marks', `${'? '.repeat(30_000)}\nx`],
    ['indented keys', Array.from({ length: 200 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
    [
      'brackets of JSON that is no YAML',
      `{\t"sections":{"main":[{"play":{"url":"say:a","status_url":${'['.repeat(9_000)}${']'.repeat(9_000)}}}]}}`,
    ],
  ])('is rejected for too many %s before the values are visited', (_what, text) => {
    expect(faultsOf(text)).toMatchObject([{ code: 'relay_script_nested_too_deep' }])
  })

  it('is read in linear time, regardless of the number of keys', () => {
    const sections = Array.from({ length: 5_000 }, (_, i) => [`s${i}`, []])
    const text = JSON.stringify({ sections: { main: ['hangup'], ...Object.fromEntries(sections) } })
    expect(readScriptDocument({ text }).main.steps).toHaveLength(1)
  })

  it('reports at most 100 faults', () => {
    expect(faultsOf(script(...Array.from({ length: 5_000 }, () => 'dance')))).toHaveLength(100)
  })

  it('may be JSON indented with tabs, and requires no version', () => {
    expect(
      readScriptDocument({ text: '{\n\t"sections": {\n\t\t"main": [\n\t\t\t"hangup"\n\t\t]\n\t}\n}' }).main
        .steps,
    ).toHaveLength(1)
  })

  it.each([
    ['relay_script_parse_error', 'JSON that is cut off', '{"sections": {"main": [', ''],
    ['relay_script_parse_error', 'YAML with a tag', 'sections: !!js/function x', ''],
    ['relay_script_parse_error', 'a list as a key', 'sections: { ? [a] : b }', ''],
    ['relay_script_element_duplicated', 'a key that stands twice', 'sections:\n  main: []\n  main: []\n', ''],
    ['relay_script_element_wrong_type', 'a list', '[]', ''],
    ['relay_script_element_wrong_type', 'no object at all', '<Response/>', ''],
    [
      'relay_script_version_invalid',
      'another version',
      '{"version":"2.0","sections":{"main":[]}}',
      '/version',
    ],
    [
      'relay_script_element_undefined',
      'a foreign element',
      '{"section":1,"sections":{"main":[]}}',
      '/section',
    ],
    ['relay_script_sections_missing', 'no sections', '{"version":"1.0.0"}', ''],
    ['relay_script_element_wrong_type', 'sections that are a list', '{"sections":[]}', '/sections'],
    ['relay_script_main_section_missing', 'no main', '{"sections":{"other":[]}}', '/sections'],
    ['relay_script_section_code_missing', 'an empty main', 'sections:\n  main:\n', '/sections/main'],
    [
      'relay_script_element_wrong_type',
      'a main that is a method',
      '{"sections":{"main":{"play":{}}}}',
      '/sections/main',
    ],
    ['relay_script_element_wrong_type', 'a step that is a number', script(1), '/sections/main/0'],
    ['relay_script_method_missing_name', 'a step without a method', script({}), '/sections/main/0'],
    [
      'relay_script_element_invalid_value',
      'a step with two methods',
      script({ answer: {}, hangup: {} }),
      '/sections/main/0',
    ],
    ['relay_script_method_undefined', 'an unknown method', script({ dance: {} }), '/sections/main/0/dance'],
    [
      'relay_script_method_undefined',
      'a method named like a property of objects',
      script('constructor'),
      '/sections/main/0',
    ],
  ])('is rejected with %s for %s', (code, _what, text, path) => {
    expect(faultsOf(text)).toMatchObject([{ code, path }])
  })

  it('is rejected if its aliases multiply', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nsections: [*d,*d,*d,*d,*d]`
    expect(faultsOf(bomb)).toMatchObject([{ code: 'relay_script_parse_error', line: 5 }])
  })

  it.each([
    'sections: &a\n  main: [{ set: { b: *a } }]',
    'sections:\n  main:\n  - set: &a { b: { c: *a } }',
    'sections:\n  main: &a\n  - cond: [{ when: b, then: *a }]',
  ])('is rejected if a value contains itself: %s', (text) => {
    expect(faultsOf(text)).toMatchObject([{ code: 'relay_script_parse_error', line: expect.any(Number) }])
  })

  it('is rejected above 64 kB of bytes, not characters', () => {
    const padded = (comment: string) => `${script('hangup')} # ${comment}`
    const room = 65_536 - Buffer.byteLength(padded(''))
    expect(readScriptDocument({ text: padded('x'.repeat(room)) }).main.steps).toHaveLength(1)
    for (const comment of ['x'.repeat(room + 1), 'é'.repeat(room / 2 + 1)])
      expect(faultsOf(padded(comment))).toEqual([
        { code: 'relay_script_parse_error', message: 'The script is larger than 65536 bytes.', path: '' },
      ])
  })
})

describe('parameters', () => {
  it.each([
    ['parameter_missing', 'play without a sound', { play: {} }, '/play'],
    ['parameter_missing', 'a method with none', { send_digits: null }, '/send_digits'],
    ['parameter_missing', 'connect without a destination', { connect: { timeout: 3 } }, '/connect'],
    [
      'parameter_missing',
      'a destination without to',
      { connect: { serial: [{ from: '1' }] } },
      '/connect/serial/0',
    ],
    ['parameter_conflict', 'url and urls', { play: { url: 'say:a', urls: ['say:b'] } }, '/play'],
    [
      'parameter_conflict',
      'to and parallel',
      { connect: { to: '+1', parallel: [{ to: '+1' }] } },
      '/connect',
    ],
    ['parameter_undefined', 'a misspelt parameter', { play: { urk: 'say:a', url: 'say:b' } }, '/play/urk'],
    ['parameter_invalid_value', 'text for parameters', { play: 'say:a' }, '/play'],
    [
      'parameter_invalid_value',
      'a number out of its range',
      { play: { url: 'say:a', volume: 41 } },
      '/play/volume',
    ],
    [
      'parameter_invalid_value',
      'a number as text out of its range',
      { play: { url: 'say:a', volume: '41' } },
      '/play/volume',
    ],
    ['parameter_invalid_value', 'text for a number', { sleep: 'soon' }, '/sleep'],
    [
      'parameter_invalid_value',
      'a truth that is none',
      { connect: { to: '+1', answer_on_bridge: 'maybe' } },
      '/connect/answer_on_bridge',
    ],
    ['parameter_invalid_value', 'an unknown reason', { hangup: { reason: 'tired' } }, '/hangup/reason'],
    [
      'parameter_invalid_value',
      'keys that no phone has',
      { send_digits: { digits: '1x' } },
      '/send_digits/digits',
    ],
    [
      'parameter_invalid_value',
      'terminators that no phone has',
      { prompt: { play: 'say:a', terminators: 'x' } },
      '/prompt/terminators',
    ],
    ['parameter_invalid_value', 'an unknown sound', { play: { url: 'ftp://a.example/b' } }, '/play/url'],
    [
      'parameter_invalid_value',
      'an unknown sound in a list',
      { play: { urls: ['say:a', 'ring:xx'] } },
      '/play/urls/1',
    ],
    [
      'parameter_invalid_value',
      'an unknown sound of a prompt',
      { prompt: { play: ['silence:x'] } },
      '/prompt/play/0',
    ],
    ['parameter_invalid_value', 'an empty list', { play: { urls: [] } }, '/play/urls'],
    ['parameter_invalid_value', 'a destination of another kind', { connect: { to: 'tel:a' } }, '/connect/to'],
    [
      'parameter_invalid_value',
      'a nested destination of another kind',
      { connect: { serial_parallel: [[{ to: 'x' }]] } },
      '/connect/serial_parallel/0/0/to',
    ],
    [
      'parameter_invalid_value',
      'more than ten destinations together',
      { connect: { parallel: numbers(11) } },
      '/connect/parallel',
    ],
    [
      'parameter_invalid_value',
      'more than ten destinations together in an inner list',
      { connect: { serial_parallel: [numbers(1), numbers(11)] } },
      '/connect/serial_parallel/1',
    ],
    [
      'parameter_invalid_value',
      'more than a hundred destinations in all',
      { connect: { serial_parallel: [...Array.from({ length: 10 }, () => numbers(10)), numbers(1)] } },
      '/connect/serial_parallel',
    ],
    [
      'parameter_invalid_value',
      'more than a hundred destinations one after the other',
      { connect: { serial: numbers(101) } },
      '/connect/serial',
    ],
    [
      'parameter_invalid_value',
      'a line break in the caller id',
      { connect: { to: '+1', from: 'a\r\nb' } },
      '/connect/from',
    ],
    [
      'parameter_invalid_value',
      'an encoded line break in a header',
      { connect: { to: '+1', headers: [{ name: 'x-a', value: '1%0D%0AVia:%20x' }] } },
      '/connect/headers/0',
    ],
    [
      'parameter_invalid_value',
      "a header of the gateway's",
      { connect: { to: '+1', headers: [{ name: 'Route', value: 'x' }] } },
      '/connect/headers/0',
    ],
    [
      'parameter_invalid_value',
      'a header name with a colon',
      { connect: { to: '+1', headers: [{ name: 'x-a:', value: 'x' }] } },
      '/connect/headers/0',
    ],
    [
      'parameter_missing',
      'a header without a value',
      { connect: { to: '+1', headers: [{ name: 'x-a' }] } },
      '/connect/headers/0',
    ],
  ])('are rejected with relay_script_method_%s for %s', (code, _what, step, path) => {
    expect(faultsOf(script(step))).toMatchObject([
      { code: `relay_script_method_${code}`, path: `/sections/main/0${path}` },
    ])
  })

  it.each(['say:%{}', `say:%{${'x'.repeat(1025)}}`, 'say:%{f(', 'say:%{"a}'])('are rejected as %j', (url) => {
    expect(faultsOf(script({ play: { url } }))).toMatchObject([
      { code: 'relay_script_js_eval_error', path: '/sections/main/0/play/url' },
    ])
  })

  it('are never quoted in messages', () => {
    const faults = faultsOf(
      script({ connect: { to: 'pa55', password: 'pa55\n', headers: [{ name: 'x-a', value: 'pa55%0a' }] } }),
    )
    expect(faults).toHaveLength(3)
    expect(JSON.stringify(faults)).not.toContain('pa55')
  })

  it('may be placeholders for values known at run time', () => {
    const step = {
      connect: { to: '%{vars.to}', timeout: '%{envs.t}', headers: [{ name: 'x-a', value: '%{call.from}' }] },
    }
    expect(readScriptDocument({ text: script(step, { sleep: '%{vars.ms}' }) }).main.steps).toHaveLength(2)
  })

  it('may name ten destinations at once and a hundred in total', () => {
    const lists = Array.from({ length: 10 }, () => numbers(10))
    const steps = [{ connect: { parallel: numbers(10) } }, { connect: { serial_parallel: lists } }]
    expect(readScriptDocument({ text: script(...steps) }).main.steps).toHaveLength(2)
  })

  it('without an effect cause warnings, also in nested destinations', () => {
    const { warnings } = readScriptDocument({
      text: script(
        { answer: { username: 'x' } },
        { connect: { serial: [{ to: '+1', webrtc_media: true }] } },
      ),
    })
    expect(warnings).toMatchObject([
      { path: '/sections/main/0/answer/username' },
      { path: '/sections/main/1/connect/serial/0/webrtc_media' },
    ])
  })

  it('have all faults reported together, with line and column', () => {
    const text =
      'version: 1.0.0\nsections:\n  main:\n    - play:\n        url: say:a\n        volume: loud\n    - dance\n    - connect:\n        serial:\n          - to: +1\n            tone: 4\n'
    expect(faultsOf(text)).toMatchObject([
      { path: '/sections/main/0/play/volume', line: 6, column: 9 },
      { path: '/sections/main/1', line: 7, column: 7 },
      { path: '/sections/main/2/connect/serial/0/to', line: 10, column: 13 },
      { path: '/sections/main/2/connect/serial/0/tone', line: 11, column: 13 },
    ])
  })
})
