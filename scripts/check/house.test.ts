import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeLines, longestFile, longestTestFile, undocumented } from './house.ts'
import { folderTables, layersFile, layersJson, rooms } from './layers.ts'

const root = dirname(dirname(import.meta.dirname))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Every TypeScript file under version control, and every new one that is not ignored. */
const sources = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .stdout.split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)))

/** Returns the names in a folder that hold sources: a gateway may keep its data there too. */
const entriesOf = (folder: string): string[] => {
  const paths = sources.filter((path) => path.startsWith(`${folder}/`))
  return [...new Set(paths.map((path) => path.slice(folder.length + 1).replace(/\/.*/, '')))]
}

/** Path of a file, and the module that it imports. */
type Import = readonly [path: string, from: string]

/** Files, each with an import that its layer forbids. */
const forbidden: readonly Import[] = [
  ['handlers/xml/x.ts', '../../gateway/calls/session/calls.ts'],
  ['handlers/x.ts', '../media/types.ts'],
  ['handlers/x.ts', '../config/types.ts'],
  ['media/edge/x.ts', '../../sip-agent/clock.ts'],
  ['media/x.ts', '../handlers/verbs.ts'],
  ['config/x.ts', '../gateway/core/errors/catalogue.ts'],
  ['gateway/http/x.ts', '../../client/src/index.ts'],
  ['gateway/x.ts', '../test/support/gateway.ts'],
  ['client/src/x.ts', '../../gateway/rpc/frames.ts'],
  ['console/src/x.ts', '../../client/src/index.ts'],
  ['react/src/x.ts', '../../client/src/index.ts'],
  ['react/src/x.ts', '@trunkline/realtime'],
  ['console/src/x.ts', '../../gateway/core/errors/catalogue.ts'],
  ['gateway/x.ts', '@trunkline/client'],
  ['gateway/calls/x.ts', '../../sip-agent/clock.ts'],
  ['sip-agent/x.ts', '../gateway/core/json.ts'],
  ['sip-agent/transport/x.ts', '../../config/networks.ts'],
  ['gateway/core/x.ts', '../directory/directory.ts'],
  ['gateway/core/web/x.ts', '../../model.ts'],
  ['gateway/directory/index/x.ts', '../../calls/ports.ts'],
  ['gateway/directory/model/x.ts', '../store/sqlite.ts'],
  ['gateway/directory/store/x.ts', '../migrations/run.ts'],
  ['gateway/directory/tables/x.ts', '../index/memory.ts'],
  ['gateway/directory/index/x.ts', '../writing/quotas.ts'],
  ['gateway/directory/writing/x.ts', '../provision/declared.ts'],
  ['gateway/directory/provision/x.ts', '../directory.ts'],
  ['gateway/directory/postgres/x.ts', '../../auth/project-access.ts'],
  ['gateway/directory/x.ts', './store/sqlite.ts'],
  ['gateway/calls/leg/x.ts', '../../sip/headers.ts'],
  ['gateway/sip/trunks/x.ts', '../../http/site.ts'],
  ['gateway/http/x.ts', '../app/open.ts'],
  ['gateway/app/x.ts', '../cli/run-command.ts'],
  ['gateway/sip/sdp/x.ts', '../digest/nonces.ts'],
  ['gateway/sip/admission/x.ts', '../registrar/registrar.ts'],
  ['gateway/sip/outbound/x.ts', '../registrar/registrar.ts'],
  ['gateway/sip/dialog/x.ts', '../sip-edge.ts'],
  ['gateway/sip/media/x.ts', '../../http/site.ts'],
  ['gateway/sip/x.ts', './dialog/known-dialogs.ts'],
  ['gateway/calls/leg/x.ts', '../local/local-legs.ts'],
  ['gateway/calls/call/x.ts', '../session/calls.ts'],
  ['gateway/calls/log/x.ts', '../connect/branch.ts'],
  ['gateway/calls/connect/x.ts', '../verbs/hold.ts'],
  ['gateway/calls/conference/x.ts', '../queue/queues.ts'],
  ['gateway/calls/verbs/x.ts', '../session/calls.ts'],
  ['gateway/calls/audio/x.ts', '../../sip/sip-edge.ts'],
  ['gateway/calls/x.ts', './leg/leg.ts'],
  ['sip-agent/core/x.ts', '../proxy/proxies.ts'],
  ['sip-agent/core/uas/x.ts', '../../proxy/proxies.ts'],
  ['sip-agent/core/uas/x.ts', '../../agent.ts'],
  ['sip-agent/core/uas/x.ts', '../uac/in-dialog.ts'],
  ['sip-agent/core/x.ts', './uas/pending-requests.ts'],
  ['sip-agent/core/x.ts', './uac/hangup.ts'],
  ['sip-agent/core/uac/x.ts', '../../proxy/proxies.ts'],
  ['sip-agent/transport/x.ts', '../route/types.ts'],
  ['sip-agent/reach/x.ts', '../types.ts'],
  ['sip-agent/message/x.ts', '../../gateway/core/json.ts'],
  ['sip-agent/receiver.ts', './agent.ts'],
  ['sip-agent/clock.ts', './message/message.ts'],
  ['handlers/verb-types/x.ts', '../verbs.ts'],
  ['handlers/common/x.ts', '../xml/document.ts'],
  ['handlers/xml/x.ts', '../reading/reader.ts'],
  ['handlers/xml/verbs/x.ts', '../../script/document.ts'],
  ['handlers/xml/verbs/x.ts', '../document.ts'],
  ['handlers/xml/verbs/x.ts', '../../../gateway/calls/session/calls.ts'],
  ['handlers/xml/nouns/x.ts', '../verbs/play.ts'],
  ['handlers/xml/x.ts', './verbs/index.ts'],
  ['handlers/script/methods/x.ts', '../../reading/reader.ts'],
  ['handlers/script/x.ts', '../flow/document.ts'],
  ['handlers/script/x.ts', './variables.ts'],
  ['handlers/script/x.ts', './methods/index.ts'],
  ['handlers/script/method.ts', './methods/index.ts'],
  ['handlers/script/variables.ts', './document.ts'],
  ['handlers/script/document.ts', './run.ts'],
  ['handlers/script/methods/x.ts', '../step-reader.ts'],
  ['handlers/script/methods/x.ts', '../handler.ts'],
  ['handlers/script/methods/x.ts', '../../flow/document.ts'],
  ['handlers/script/sandbox/x.ts', '../variables.ts'],
  ['handlers/verbs.ts', './handler.ts'],
  ['handlers/x.ts', './xml/document.ts'],
  ['media/rtp/x.ts', '../edge/port.ts'],
  ['media/edge/native/x.ts', '../../webrtc/webrtc.ts'],
  ['media/compose/x.ts', '../webrtc/webrtc.ts'],
  ['media/types.ts', './codecs/codec-info.ts'],
  ['media/x.ts', './rtp/receiver.ts'],
  ['media/webrtc/sdp/x.ts', '../routers.ts'],
  ['media/webrtc/video/x.ts', '../webrtc-session.ts'],
  ['media/webrtc/routers.ts', './video/session-video.ts'],
  ['media/webrtc/video/x.ts', '../../../gateway/core/json.ts'],
  ['config/schema/x.ts', '../types.ts'],
  ['config/rules/x.ts', '../load.ts'],
  ['config/rules/x.ts', '../../media/types.ts'],
  ['config/x.ts', './schema/formats.ts'],
  ['gateway/http/requests/x.ts', '../routes/shared/time-cursors.ts'],
  ['gateway/http/routes/x.ts', '../rest-api.ts'],
  ['gateway/http/routes/x.ts', './fabric/fabric-routes.ts'],
  ['gateway/http/routes/fabric/x.ts', '../../rest-api.ts'],
  ['gateway/http/routes/shared/x.ts', '../compat/compat-routes.ts'],
  ['gateway/http/routes/shared/x.ts', '../../../app/open.ts'],
  ['gateway/rpc/x.ts', './subscriber/browser-session.ts'],
  ['gateway/rpc/realtime/x.ts', '../subscriber/browser-session.ts'],
]

/** Files, each with an import that its layer may have. */
const allowed: readonly Import[] = [
  ['gateway/calls/x.ts', '../../handlers/verbs.ts'],
  ['gateway/x.ts', '../media/types.ts'],
  ['gateway/x.ts', '../config/types.ts'],
  ['handlers/xml/x.ts', '../verbs.ts'],
  ['media/edge/x.ts', 'mediasoup'],
  ['console/src/x.ts', '@trunkline/client'],
  ['react/src/x.ts', '@trunkline/client'],
  ['test/scenarios/x.ts', '../../gateway/core/errors/catalogue.ts'],
  ['gateway/core/x.ts', '@trunkline/sip-agent/clock'],
  ['gateway/directory/directory.ts', './provision/provision.ts'],
  ['gateway/directory/provision/x.ts', '../writing/passwords.ts'],
  ['gateway/directory/index/x.ts', '../model/ports.ts'],
  ['gateway/directory/store/x.ts', '../../core/log.ts'],
  ['gateway/directory/tables/x.test.ts', '../directory.ts'],
  ['gateway/sip/trunks/x.ts', '../../calls/leg/leg.ts'],
  ['gateway/sip/sdp/x.ts', '../../../media/types.ts'],
  ['gateway/sip/registrar/x.ts', '../admission/refusals.ts'],
  ['gateway/sip/sip-edge.ts', './registrar/registrar.ts'],
  ['gateway/sip/sdp/x.test.ts', '../trunks/carrier.ts'],
  ['gateway/calls/connect/x.ts', '../log/call-log.ts'],
  ['gateway/calls/verbs/x.ts', '../../core/log.ts'],
  ['gateway/calls/session/x.ts', '../verbs/call-controller.ts'],
  ['gateway/calls/leg/x.test.ts', '../session/calls.ts'],
  ['sip-agent/proxy/x.ts', '../core/uas/responses.ts'],
  ['sip-agent/core/uas/x.ts', '../../clock.ts'],
  ['sip-agent/agent.ts', './receiver.ts'],
  ['sip-agent/core/x.test.ts', '../proxy/proxies.ts'],
  ['handlers/xml/verbs/x.ts', '../nouns/stream.ts'],
  ['handlers/xml/verbs/x.ts', '../../verbs.ts'],
  ['handlers/xml/document.ts', './verbs/index.ts'],
  ['handlers/flow/x.ts', '../script/methods/index.ts'],
  ['handlers/script/sandbox/x.ts', '../../common/forms.ts'],
  ['handlers/script/methods/x.ts', '../../handler.ts'],
  ['handlers/script/methods/x.ts', '../variables.ts'],
  ['handlers/script/run.ts', './methods/index.ts'],
  ['sip-agent/core/uac/x.ts', '../uas/unacked-2xx.ts'],
  ['media/webrtc/video/x.ts', '../m-line.ts'],
  ['media/edge/native/x.ts', '../../rtp/receiver.ts'],
  ['media/compose/x.ts', '../edge/sockets-open.ts'],
  ['config/load.ts', './rules/check-rules.ts'],
  ['gateway/http/routes/compat/x.ts', '../cdr/cdr-routes.ts'],
  ['gateway/rpc/subscriber/x.ts', '../rpc-session.ts'],
  ['gateway/http/x.ts', '../rpc/realtime/registry.ts'],
  ['gateway/core/x.test.ts', '../http/site.ts'],
  ['gateway/cdr/testing/x.ts', '../../calling/lost-calls.ts'],
]

/** Sources that use timers, dates and the environment, by path. */
const timers = 'setTimeout(() => Date.now(), 5)\nsetInterval(() => {}, 5)\n'
const environment = 'export const a = process.env.HOME\n'
const others: Readonly<Record<string, string>> = {
  'gateway/timers.ts': timers,
  'media/edge/timers.ts': timers,
  'media/edge/system-clock.ts': timers,
  'client/src/timers.ts': timers,
  'handlers/sleep.ts': "import { a } from 'node:timers/promises'\n\nexport const b = a\n",
  'gateway/calls/home.ts': environment,
  'media/home.ts': environment,
  'config/home.ts': environment,
  'scripts/home.ts': environment,
}

describe('the lint rules of the house', () => {
  let folder: string
  /** Findings of biome by file, as `line rule`. */
  let findings: Map<string, string[]>
  const imports = Map.groupBy([...forbidden, ...allowed], ([path]) => path)

  /** Writes one import on each line, in the order of the tables. */
  const importing = (of: readonly Import[]): string => {
    const lines = of.map(([, from], at) => `import { a as a${at} } from '${from}'\n`)
    return `${lines.join('')}\nexport const b = [${of.map((_, at) => `a${at}`).join(', ')}]\n`
  }

  // Biome needs a second to start, so it checks the sources of all tests at once.
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'lint-')))
    const config = JSON.parse(read('biome.json'))
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }))
    cpSync(join(root, 'scripts/check/rules'), join(folder, 'scripts/check/rules'), { recursive: true })
    const files = [
      ...Object.entries(others),
      ...[...imports].map(([path, of]) => [path, importing(of)] as const),
    ]
    for (const [path, source] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), source)
    }
    const biome = join(root, 'node_modules/.bin/biome')
    const options = ['lint', '--reporter=github', '--max-diagnostics=none']
    const { stdout } = spawnSync(biome, [...options, ...files.map(([path]) => path)], {
      cwd: folder,
      encoding: 'utf8',
    })
    const found = [...stdout.matchAll(/title=([^,]+),file=([^,]+),line=(\d+)/g)]
    findings = new Map(files.map(([path]) => [path, []]))
    for (const [, rule, file = '', line] of found)
      findings.get(relative(folder, file))?.push(`${line} ${rule}`)
    // Biome reports the findings of its plugins in any order.
    for (const ofFile of findings.values()) ofFile.sort()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Returns the findings at the line of one import. */
  const findingsOf = (path: string, from: string): readonly string[] => {
    const line = (imports.get(path) ?? []).findIndex((each) => each[1] === from) + 1
    return (findings.get(path) ?? []).filter((finding) => finding.startsWith(`${line} `))
  }

  it.each(forbidden)('%s may not import %s', (path, from) => {
    expect(findingsOf(path, from).map((finding) => finding.replace(/^\d+ /, ''))).toEqual([
      'lint/style/noRestrictedImports',
    ])
  })

  it.each(allowed)('%s may import %s', (path, from) => {
    expect(findingsOf(path, from)).toEqual([])
  })

  it('find nothing but the forbidden imports', () => {
    const found = [...imports.keys()].flatMap((path) => findings.get(path) ?? [])
    expect(found).toHaveLength(forbidden.length)
  })

  it('are made from the table of layers', () => {
    expect(readFileSync(layersFile, 'utf8')).toBe(layersJson())
    const found = entriesOf('gateway').filter((name) => !name.endsWith('.test.ts'))
    expect(found.sort()).toEqual([...rooms].sort())
  })

  it.each(Object.entries(folderTables))(
    'of %s name all its folders, and only existing files',
    (path, table) => {
      const entries = entriesOf(path)
      const outside = ['testing', 'example', 'scripts']
      const folders = entries.filter((name) => !name.includes('.') && !outside.includes(name))
      const files = entries.filter((name) => table.some((each) => each === name && name.endsWith('.ts')))
      expect([...folders, ...files].sort()).toEqual([...table].sort())
    },
  )

  it('stand after the table of folders around them', () => {
    const paths = Object.keys(folderTables)
    const early = paths.filter((path, at) => paths.indexOf(dirname(path)) > at)
    expect(early).toEqual([])
  })

  it('forbid timers and dates outside of clocks', () => {
    expect(findings.get('gateway/timers.ts')).toEqual(['1 plugin', '1 plugin', '2 plugin'])
    expect(findings.get('media/edge/timers.ts')).toHaveLength(3)
    expect(findings.get('handlers/sleep.ts')).toEqual(['1 plugin'])
    expect(findings.get('media/edge/system-clock.ts')).toEqual([])
    expect(findings.get('client/src/timers.ts')).toEqual([])
  })

  it('forbid environment variables outside of the configuration and scripts', () => {
    expect(findings.get('gateway/calls/home.ts')).toEqual(['1 lint/style/noProcessEnv'])
    expect(findings.get('media/home.ts')).toEqual(['1 lint/style/noProcessEnv'])
    expect(findings.get('config/home.ts')).toEqual([])
    expect(findings.get('scripts/home.ts')).toEqual([])
  })
})

describe('every file', () => {
  it(`has at most ${longestFile} lines, ${longestTestFile} if it is a test, without imports and comments`, () => {
    const limit = (path: string) => (/^test\/|\.test\.ts$/.test(path) ? longestTestFile : longestFile)
    expect(sources.filter((path) => codeLines(read(path)) > limit(path))).toEqual([])
  })

  it('has no marks of an unfinished merge', () => {
    const marks = '^(<<<<<<< |>>>>>>> |\\|\\|\\|\\|\\|\\|\\| )'
    const { stdout } = spawnSync('git', ['grep', '-nE', marks], { cwd: root, encoding: 'utf8' })
    expect(stdout).toBe('')
  })

  it('has its lines counted without imports and comments', () => {
    const source =
      "import {\n  a,\n} from 'a'\nimport 'b'\n\n/**\n * One.\n */\nexport const one = a // why\n"
    expect(codeLines(source)).toBe(2)
  })

  it('has a doc comment on each name that it exports', () => {
    const product = sources.filter(
      (path) =>
        /^(gateway|sip-agent|handlers|media|config|client|scripts)\//.test(path) &&
        !/\.(test|d)\.ts$|vite\.config/.test(path),
    )
    expect(product.flatMap((path) => undocumented(read(path)).map((name) => `${path}:${name}`))).toEqual([])
  })

  it('fails the check if an exported name has no doc comment', () => {
    expect(undocumented('/** One. */\nexport const one = 1\n\nexport const two = 2\n')).toEqual(['4: two'])
  })
})

describe('the lock file', () => {
  it('names no registry, so that every registry can be used', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved": "https?:/)
  })

  it('has a hash of every package except Biome’s binaries for other systems', () => {
    const lock: {
      readonly packages: Record<string, { readonly link?: boolean; readonly integrity?: string }>
    } = JSON.parse(read('package-lock.json'))
    const without = Object.entries(lock.packages)
      .filter(([path, { link, integrity }]) => path.startsWith('node_modules/') && !link && !integrity)
      .map(([path]) => path)
    expect(without.filter((path) => !path.startsWith('node_modules/@biomejs/cli-'))).toEqual([])
  })
})

describe('container images', () => {
  it('have exact versions, and the version of Node equals that of package.json', () => {
    const { node } = JSON.parse(read('package.json')).dependencies
    expect(read('Dockerfile')).toContain(`ARG NODE_IMAGE=node:${node}-bookworm-slim`)
    const image = '$' + '{NODE_IMAGE}'
    expect(read('Dockerfile').match(/^FROM .*/gm)).toEqual([`FROM ${image} AS build`, `FROM ${image}`])
    expect(read('compose.yaml')).not.toMatch(/image: .*latest/)
  })
})
