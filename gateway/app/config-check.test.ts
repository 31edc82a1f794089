import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DocumentPlaces } from '../../config/document-places.ts'
import { describeFault, inOrder } from '../../config/faults.ts'
import { loadConfig } from '../../config/load.ts'
import { checkDocuments, checkFile, checkSettings } from './config-check.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-check-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const check = (text: string) => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, text)
  const faults = inOrder(checkDocuments(loadConfig(file, {}), new DocumentPlaces(file, {})))
  const lines = faults.map((fault) => describeFault(fault).replace(`${folder}/`, ''))
  return { lines, valid: faults.every(({ severity }) => severity === 'warning') }
}

describe('faults of documents', () => {
  it('of a script in place are reported with the line of the file, once when an alias shares it', () => {
    const text = `domains:
  - domain: a.test
    handler: &shared
      kind: script
      document:
        sections:
          main:
            - answer
            - dance: {}
  - { domain: b.test, handler: *shared }
`
    expect(check(text)).toEqual({
      lines: [
        'trunkline.yaml:9:15 domains[0].handler.document.sections.main[1].dance: There is no method dance. [relay_script_method_undefined]',
      ],
      valid: false,
    })
  })

  it('of an agent are reported with the line of the file; parts without effect are warnings', () => {
    const text = `resources:
  - address: /public/assistant
    handler:
      kind: agent
      document:
        prompt: { text: Hi }
        languages: {}
  - address: /public/other
    handler:
      kind: agent
      document: { prompt: { text: Hi }, voice: alloy }
`
    const { lines, valid } = check(text)
    expect(valid).toBe(false)
    expect(lines).toEqual([
      'trunkline.yaml:7:9 resources[0].handler.document.languages: must be a list [document-faulty]',
      expect.stringMatching(
        /^trunkline.yaml:11:\d+ warning: resources\[1\].handler.document.voice: .*\[questionable\]$/,
      ),
    ])
  })

  it('of a text in place are reported with the line of the file', () => {
    const text = `resources:
  - address: /public/menu
    handler:
      kind: xml
      document: |
        <Response>
          <Dance/>
        </Response>
`
    expect(check(text)).toEqual({
      lines: [
        'trunkline.yaml:7:11 warning: resources[0].handler.document /Response/Dance[1]: Dance is not supported in Response; it has no effect. [12200]',
      ],
      valid: true,
    })
  })

  it('of a file of its own are reported with its name', () => {
    writeFileSync(join(folder, 'menu.xml'), '<Response>\n  <Redirect>ftp://x</Redirect>\n</Response>')
    const text = 'domains: [{ domain: a.test, handler: { kind: xml, file: ./menu.xml } }]'
    expect(check(text)).toEqual({
      lines: ['menu.xml:2:3 /Response/Redirect[1]: The URL must be an http or https URL. [11100]'],
      valid: false,
    })
  })

  it('tell of a script in place that is larger than 64 kB', () => {
    const step = `{ play: { url: "say:${'x'.repeat(65_536)}" } }`
    const text = `domains: [{ domain: a.test, handler: { kind: script, document: { sections: { main: [${step}] } } } }]`
    const { lines, valid } = check(text)
    expect(valid).toBe(false)
    expect(lines).toEqual([expect.stringContaining(': The script is larger than 65536 bytes.')])
  })

  it('are none in a configuration without documents', () => {
    expect(check('domains: [{ domain: a.test, handler: { kind: xml, url: https://a.test/ } }]')).toEqual({
      lines: [],
      valid: true,
    })
  })
})

it('tells of dangerous settings with their place', () => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, 'domains:\n  - domain: a.test\n    allow: [192.0.2.0/24]\n  - domain: b.test\n')
  const lines = checkSettings(loadConfig(file, {}), new DocumentPlaces(file, {}))
  expect(lines.map((line) => describeFault(line).replace(`${folder}/`, ''))).toEqual([
    'trunkline.yaml:4:5 warning: domains[1]: any address may send calls to b.test; restrict it by allow or challenge [questionable]',
  ])
})

describe('a whole file', () => {
  it('that is valid has its configuration and its warnings', () => {
    const file = join(folder, 'trunkline.yaml')
    writeFileSync(file, 'domains: [{ domain: b.test }]')
    const { faults, config } = checkFile(file)
    expect(config?.domains).toHaveLength(1)
    expect(faults.map(({ severity, code }) => `${severity} ${code}`)).toContain('warning questionable')
  })

  it('with an error has no configuration', () => {
    const file = join(folder, 'trunkline.yaml')
    writeFileSync(file, 'domains: nothing')
    expect(checkFile(file)).toEqual({ faults: [expect.objectContaining({ code: 'wrong-type' })] })
  })
})
