/**
 * Fenced code of the documentation, checked by its language. CONTRIBUTING.md has the table of the checks. A
 * block that is not complete has a reason after its language, such as `json shortened`, or contains `…`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ConfigInvalid } from '../../config/faults.ts'
import { configSchema } from '../../config/schema/config-schema.ts'
import { testFolder } from '../../config/testing/config-test-folder.ts'
import { root } from '../../docs/.vitepress/links.ts'
import { readScenarioText } from '../../gateway/agent-test/scenario/read-scenario.ts'
import { readScript } from '../../gateway/stand-ins/read-script.ts'
import { checkDocument } from '../../handlers/reading/check-document.ts'

interface Block {
  readonly file: string
  readonly line: number
  readonly language: string
  readonly reason: string
  readonly text: string
}

const files = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .stdout.split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

const blocksOf = (file: string): readonly Block[] => {
  const source = readFileSync(join(root, file), 'utf8')
  return [...source.matchAll(/^( *)```(\w*) ?(.*)\n([\s\S]*?)^\1```$/gm)].map((found) => {
    const [, indent = '', language = '', reason = '', text = ''] = found
    const line = source.slice(0, found.index).split('\n').length
    return { file, line, language, reason, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }
  })
}

const blocks = files.flatMap(blocksOf)
const reasons = ['shortened', 'part', 'pseudo', 'other']

const isComplete = ({ reason, text }: Block): boolean => !reasons.includes(reason) && !text.includes('…')

const folder = testFolder()

/** Value of each variable in examples. It passes rules for secrets. */
const environment = new Proxy({}, { get: () => 'Xk4-pw_9zz-0123456789-abcdef-XYZ', has: () => true })

const configFaults = (text: string): readonly string[] => {
  try {
    folder.load(text, environment)
    return []
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.faults.map(({ path, message }) => `${path}: ${message}`)
    throw error
  }
}

const scriptFaults = (value: unknown): readonly string[] => {
  const { errors, warnings } = checkDocument('script', JSON.stringify(value))
  return [...errors, ...warnings].map(({ message }) => message)
}

const isScript = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'sections' in value && 'version' in value

/** Whether a value is a script of `trunkline engines`. */
const isStandInScript = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'rules' in value

const standInFaults = (text: string): readonly string[] => {
  try {
    readScript(text, root)
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

/** Whether a value is a scenario of `trunkline agent-test`. */
const isScenario = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'target' in value && 'caller' in value

const scenarioFaults = (text: string): readonly string[] => {
  try {
    readScenarioText('scenario.yaml', text, { env: environment, hasFile: () => true })
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

const yamlFaults = (text: string): readonly string[] => {
  const value = parse(text) as unknown
  if (isScript(value)) return scriptFaults(value)
  if (isStandInScript(value)) return standInFaults(text)
  if (isScenario(value)) return scenarioFaults(text)
  if (Array.isArray(value)) return scriptFaults({ version: '1.0.0', sections: { main: value } })
  return configFaults(text)
}

const jsonFaults = (text: string): readonly string[] => {
  const value = JSON.parse(text) as unknown
  return isScript(value) ? scriptFaults(value) : []
}

const moduleFaults = (name: string, text: string): readonly string[] =>
  parseSync(name, text, { sourceType: 'module' }).errors.map(({ message }) => message)

/** Faults of a module, or of the body of a component, which returns. */
const codeFaults = (name: string, text: string): readonly string[] => {
  const faults = moduleFaults(name, text)
  const isBody = faults.length > 0 && faults.every((fault) => fault.includes("A 'return' statement"))
  return isBody ? moduleFaults(name, `async function Example() {\n${text}\n}`) : faults
}

const htmlFaults = (text: string): readonly string[] =>
  [...text.matchAll(/<script type="module">([\s\S]*?)<\/script>/g)].flatMap(([, script = '']) =>
    codeFaults('page.js', script),
  )

/** Faults of a command, and of the JSON that it sends with `--json`. */
const shellFaults = (text: string): readonly string[] => {
  const { stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' })
  const bodies = [...text.matchAll(/(?:--json|-d) '(\{[^']*\})'/g)].map(([, body = '']) => body)
  const wrong = bodies.filter((body) => {
    try {
      return jsonFaults(body).length > 0
    } catch {
      return true
    }
  })
  return [...(stderr === '' ? [] : [stderr]), ...wrong]
}

const checks: Readonly<Record<string, (text: string) => readonly string[]>> = {
  yaml: yamlFaults,
  json: jsonFaults,
  sh: shellFaults,
  html: htmlFaults,
  js: (text) => codeFaults('example.js', text),
  ts: (text) => codeFaults('example.ts', text),
  tsx: (text) => codeFaults('example.tsx', text),
  xml: (text) => {
    const { errors, warnings } = checkDocument('xml', text)
    return [...errors, ...warnings].map(({ message }) => message)
  },
}

describe('code of the documentation', () => {
  it('is fenced, and not only indented', () => {
    const indented = files.flatMap((file) => {
      const lines = readFileSync(join(root, file), 'utf8')
        .replace(/^( *)```[\s\S]*?^\1```$/gm, (block) => block.replace(/\S.*/g, 'code'))
        .split('\n')
      return lines.flatMap((line, index) =>
        /^ {4}[^ ]/.test(line) && lines[index - 1] === '' && !/^ *code$/.test(line)
          ? [`${file}:${index + 1}`]
          : [],
      )
    })
    expect(indented).toEqual([])
  })

  it('names its language, and its reason if it is not complete', () => {
    const unknown = blocks.filter(
      ({ language, reason }) =>
        !(language in checks || ['text', 'sql'].includes(language)) || !['', ...reasons].includes(reason),
    )
    expect(unknown.map(({ file, line, language }) => `${file}:${line} ${language}`)).toEqual([])
  })

  it.each(Object.keys(checks))('is valid %s', (language) => {
    const faults = blocks
      .filter((block) => block.language === language && isComplete(block))
      .flatMap(({ file, line, text }) => {
        try {
          return (checks[language]?.(text) ?? []).map((fault) => `${file}:${line} ${fault}`)
        } catch (error) {
          return [`${file}:${line} ${(error as Error).message}`]
        }
      })
    expect(faults).toEqual([])
  })

  it('is checked for the most part', () => {
    const checked = blocks.filter((block) => block.language in checks && isComplete(block))
    expect(checked.length).toBeGreaterThan(110)
  })

  it('has no key of the configuration that does not exist', () => {
    const groups = Object.keys(configSchema.properties)
    const others = /^(?:CHANGELOG|client\/README|docs\/(?:events|sdk|softphone|streams))\.md$/
    const keys = new Set(configurationKeys())
    const wrong = files
      .filter((file) => !others.test(file))
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(/`([a-z]\w+(?:\.[a-z]\w+)+)`/g)]
          .map(([, key = '']) => key)
          .filter((key) => groups.includes(key.split('.')[0] ?? '') && !keys.has(key))
          .map((key) => `${file} ${key}`),
      )
    expect(wrong).toEqual([])
  })
})

/** Returns the keys that docs/configuration.md lists, without the brackets of lists. */
const configurationKeys = (): readonly string[] =>
  [...readFileSync(join(root, 'docs/configuration.md'), 'utf8').matchAll(/^\| `([^`]+)`/gm)].map(
    ([, key = '']) => key.replaceAll('[]', ''),
  )
