/** The packages for npm, installed into an empty folder: the examples of their READMEs run there. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { SdkIndex } from '../../gateway/http/sdk-files.ts'
import {
  buildPackage,
  packageFolders,
  packPackage,
  repository,
} from '../../scripts/packages/build-package.ts'
import { expectExampleCalls } from '../../sip-agent/testing/example-calls.ts'
import { application, scripted } from '../support/applications.ts'
import { Browser } from '../support/browser.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { Program } from '../support/program.ts'
import { ReactPage } from '../support/react-page.ts'
import { until } from '../support/until.ts'

const modules = join(repository, 'node_modules')

/** Packages of others that the examples need. They are linked, because tests use no network. */
const others = ['drachtio-srf', 'ws', 'react', 'react-dom', '@types/node', '@types/react']

const tone = 1_200

let folder: string
let app: string
let gateway: Gateway
let browser: Browser

const run = (command: string, args: readonly string[], cwd: string): string => {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  }
}

/** Returns the first example of an installed package's README, with another host than `gw.example.com`. */
const exampleOf = (name: string, host: string): string => {
  const readme = readFileSync(join(app, 'node_modules', '@trunkline', name, 'README.md'), 'utf8')
  const code = /^```tsx?\n(.*?)^```$/ms.exec(readme)?.[1]
  if (code === undefined) throw new Error(`${name}/README.md has no example`)
  return code.replaceAll('gw.example.com', host).replace("project: 'demo'", "project: 'default'")
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'packages-'))
  app = join(folder, 'app')
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
  const tarballs = packageFolders.map((name) => {
    buildPackage(name, join(folder, name))
    return packPackage(join(folder, name), folder)
  })
  const local = others.map((each) => join(modules, each))
  run('npm', ['install', '--offline', '--no-save', '--ignore-scripts', ...tarballs, ...local], app)
  const answered = scripted({ connect: { to: '/public/alice', answer_on_bridge: true } })
  gateway = await Gateway.start({
    domains: [
      application('person.test', answered),
      application('office.test', { kind: 'realtime', topic: 'office' }),
    ],
    http: { apiToken: 'token-of-the-examples' },
  })
  browser = await Browser.start(tone)
  const host = `localhost:${gateway.httpPort}`
  writeFileSync(join(app, 'client.ts'), exampleOf('client', host))
  writeFileSync(join(app, 'phone.tsx'), exampleOf('react', host))
  writeFileSync(join(app, 'realtime.ts'), exampleOf('realtime', `ws://${host}`))
  cpSync(join(repository, 'sip-agent', 'example', 'forward-calls.ts'), join(app, 'forward-calls.ts'))
})
afterAll(async () => {
  await browser?.stop()
  await gateway?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** Checks files of the empty project with the strict compiler. */
const checkTypes = (module: string, resolution: string, files: readonly string[]): void => {
  const modes = ['--module', module, '--moduleResolution', resolution]
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--jsx', 'react-jsx', ...modes]
  const types = ['--types', 'node', '--typeRoots', join(modules, '@types')]
  run(process.execPath, [join(modules, 'typescript', 'bin', 'tsc'), ...options, ...types, ...files], app)
}

const resolutions = [
  ['nodenext', 'nodenext'],
  ['node16', 'node16'],
  ['esnext', 'bundler'],
] as const

it.each(resolutions)(
  'the examples pass the type checker of a strict project: %s, %s',
  (module, resolution) => {
    checkTypes(module, resolution, ['client.ts', 'phone.tsx', 'realtime.ts', 'forward-calls.ts'])
  },
)

/** Names of each export of the packages, such as `@trunkline/client/push`. */
const entries = (): readonly string[] =>
  packageFolders.flatMap((name) => {
    const manifest = join(app, 'node_modules', '@trunkline', name, 'package.json')
    const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly exports: object }
    const modules = Object.keys(exports).filter((key) => !key.endsWith('.global.js'))
    return modules.map((key) => `@trunkline/${name}${key.slice(1)}`)
  })

it.each(resolutions)('every export of the packages has types: %s, %s', (module, resolution) => {
  const names = entries()
  expect(names).toEqual(
    expect.arrayContaining(['@trunkline/client', '@trunkline/client/bundle/trunkline.js']),
  )
  const file = `entries-${resolution}.ts`
  const lines = names.map((name, at) => `import * as entry${at} from '${name}'\nvoid entry${at}\n`)
  writeFileSync(join(app, file), lines.join(''))
  checkTypes(module, resolution, [file])
})

it('the packages hold modules with types and source maps, and neither tests nor TypeScript sources', () => {
  for (const name of packageFolders) {
    const root = join(app, 'node_modules', '@trunkline', name)
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
      statSync(join(root, file)).isFile(),
    )
    expect(
      files.filter((file) => !/^(package\.json|README\.md|CHANGELOG\.md)$|\.(js|d\.ts|js\.map)$/.test(file)),
    ).toEqual([])
    expect(files.filter((file) => /test/.test(file))).toEqual([])
  }
})

it('every script has a source map, whose sources are in the package', () => {
  for (const name of packageFolders) {
    const root = join(app, 'node_modules', '@trunkline', name)
    const scripts = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.js'),
    )
    expect(scripts.length).toBeGreaterThan(0)
    for (const script of scripts) {
      const named = /^\/\/# sourceMappingURL=(.+)$/m.exec(readFileSync(join(root, script), 'utf8'))?.[1]
      expect([name, script, named]).toEqual([name, script, `${basename(script)}.map`])
      const map = JSON.parse(readFileSync(join(root, `${script}.map`), 'utf8')) as {
        readonly sources: readonly string[]
        readonly sourcesContent?: readonly (string | null)[]
      }
      expect(map.sources.length).toBeGreaterThan(0)
      const missing = map.sources.filter(
        (source, at) => !map.sourcesContent?.[at] && !existsSync(join(root, dirname(script), source)),
      )
      expect([name, script, missing]).toEqual([name, script, []])
    }
  }
})

it('have one version, which the clients send to the gateway', () => {
  const read = (...path: string[]) => readFileSync(join(repository, ...path), 'utf8')
  const { version } = JSON.parse(read('package.json'))
  for (const name of packageFolders)
    expect([name, JSON.parse(read(name, 'package.json')).version]).toEqual([name, version])
  for (const file of ['client/src/handshake.ts', 'realtime/src/session.ts'])
    expect([file, /'@trunkline\/\w+\/(.*?)'/.exec(read(file))?.[1]]).toEqual([file, version])
})

it('the SIP agent runs its example', () => expectExampleCalls(join(app, 'forward-calls.ts')))

it('the example of the realtime client answers a call and speaks', async () => {
  const program = new Program(process.execPath, [join(app, 'realtime.ts')], {
    cwd: app,
    env: { ...process.env, TRUNKLINE_API_TOKEN: 'token-of-the-examples' },
    name: 'application',
  })
  onTestFinished(async () => {
    await program.stop()
  })
  await until(
    'the application listens',
    () => gateway.metric('applications_online'),
    (count) => count === 1,
  )
  const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario: 'caller-released' })
  await carrier.hearsVoice()
  await carrier.done()
  await gateway.settled()
})

it('the example of the client answers a call and places one', async () => {
  const built = await build({
    root: app,
    configFile: false,
    logLevel: 'warn',
    build: { write: false, lib: { entry: 'client.ts', name: 'Example', formats: ['iife'] } },
  })
  const [output] = [built].flat().flatMap((made) => ('output' in made ? made.output : []))
  if (output?.type !== 'chunk') throw new Error('nothing was built')
  const { code } = output
  const page = await browser.page()
  onTestFinished(() => page.close())
  await page.goto(`http://localhost:${gateway.httpPort}/config.json`)
  await page.evaluate(`${code}; globalThis.Example = Example`)
  const token = await gateway.token()
  await page.evaluate(async (token) => {
    const window = globalThis as unknown as ExampleWindow
    window.client = await window.Example.answerCalls(token)
  }, token)
  const carrier = await Carrier.calls(gateway, { domain: 'person.test', scenario: 'caller', holdMs: 2_000 })
  await carrier.talks('answered', 440)
  await carrier.hears(tone, 500)
  await carrier.done()
  const reason = await page
    .evaluate(() => {
      const window = globalThis as unknown as ExampleWindow
      return window.Example.call(window.client, '/public/nowhere')
    })
    .catch((error: Error) => error.message)
  expect(reason).toContain('address')
  await gateway.settled()
})

interface ExampleWindow {
  readonly Example: {
    answerCalls(token: string): Promise<object>
    call(client: object, to: string): Promise<string>
  }
  client: object
}

it('the example of the React hooks answers a call', async () => {
  const opened = await ReactPage.open(browser, { root: app, file: '/phone.tsx' })
  onTestFinished(() => opened.close())
  await opened.render({ host: `localhost:${gateway.httpPort}`, token: await gateway.token() })
  await opened.shows('Ready')
  await until(
    'alice is online',
    () => gateway.metric('subscribers_online'),
    (count) => count === 1,
  )
  const carrier = await Carrier.calls(gateway, { domain: 'person.test', scenario: 'caller-released' })
  await opened.page.getByRole('button', { name: /^Answer/ }).click()
  await carrier.talks('answered', 440)
  await opened.page.getByRole('button', { name: /^Hang up/ }).click()
  await carrier.done()
  await gateway.settled()
})

it('a page of another origin loads the SDK from the gateway, and only with the right hash', async () => {
  const at = `http://localhost:${gateway.httpPort}`
  const { files } = (await (await fetch(`${at}/sdk/index.json`)).json()) as SdkIndex
  const { path, integrity } = files['trunkline.global.js']!
  const tag = (hash: string) =>
    `<script src="${at}${path}" integrity="${hash}" crossorigin="anonymous"></script>`
  const wrong = `sha384-${Buffer.alloc(48).toString('base64')}`
  const server = createServer(({ url }, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html>${tag(url === '/right' ? integrity : wrong)}`),
  ).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  const page = await browser.page()
  onTestFinished(() => page.close())
  const kinds: string[] = []
  for (const name of ['right', 'wrong']) {
    await page.goto(`http://127.0.0.1:${port}/${name}`)
    kinds.push(await page.evaluate(() => typeof (globalThis as { Trunkline?: object }).Trunkline))
  }
  expect(kinds).toEqual(['object', 'undefined'])
})

it('a project without npm has the types of the script from the gateway', async () => {
  const at = `http://localhost:${gateway.httpPort}`
  const { files } = (await (await fetch(`${at}/sdk/index.json`)).json()) as SdkIndex
  for (const script of ['trunkline', 'push']) {
    const types = await (await fetch(`${at}${files[`${script}.js`]?.types}`)).text()
    writeFileSync(join(app, `${script}.d.ts`), types)
  }
  const url = `https://gw.example.com${files['trunkline.js']?.path}`
  const code = [
    `import { type Client, SignalWire } from '${url}'`,
    "import { decryptPush } from './push.js'",
    "export const client: Promise<Client> = SignalWire({ token: 'a' })",
    // The declarations are there, and are those of the client.
    '// @ts-expect-error\nSignalWire({ token: 1 })',
    "// @ts-expect-error\nimport { Emitter } from './trunkline.js'",
    'void [decryptPush, Emitter]',
  ]
  writeFileSync(join(app, 'served.ts'), code.join('\n'))
  const options = {
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    strict: true,
    noEmit: true,
  }
  const project = {
    compilerOptions: { ...options, types: [], paths: { [url]: ['./trunkline.d.ts'] } },
    files: ['served.ts'],
  }
  writeFileSync(join(app, 'tsconfig.served.json'), JSON.stringify(project))
  run(process.execPath, [join(modules, 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.served.json'], app)
})
