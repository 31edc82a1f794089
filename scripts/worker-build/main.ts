/** `scripts/worker`: finds, downloads or builds the mediasoup worker, verifies it and prints its path. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensureAddon, picturesAddon, socketsAddon } from './addon.ts'
import { build } from './build.ts'
import { cachedWorker, cacheFolder, remember } from './cache.ts'
import { ensurePackages } from './packages.ts'
import { download } from './prebuilt.ts'
import { verify } from './verify.ts'

const root = dirname(dirname(import.meta.dirname))
const packageFolder = join(root, 'node_modules', 'mediasoup')

/** Reports progress on standard error; standard output has only the path. */
const say = (text: string): void => void process.stderr.write(`worker: ${text}\n`)

/** File from which `scripts/trunkline` reads the path at each start. */
const pathFile = join(root, 'node_modules', '.cache', 'trunkline-worker')

const recordedPath = (): string | undefined => {
  try {
    return readFileSync(pathFile, 'utf8').trim()
  } catch {
    return undefined
  }
}

const obtain = async (mayDownload: boolean): Promise<string> => {
  const version = String(JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')).version)
  const cached = cachedWorker(version, mayDownload)
  if (cached) return cached
  if (mayDownload) {
    const prebuilt = await download(packageFolder, version, say)
    if (prebuilt) return remember(prebuilt, () => verify(prebuilt.binary))
  }
  ensurePackages(say)
  const built = await build(join(packageFolder, 'worker'), version, say)
  return remember(built, () => verify(built.binary))
}

/** Builds the addons: after the worker, whose build may have installed the packages that they need. */
const ensureAddons = (): void => {
  for (const addon of [socketsAddon, picturesAddon]) ensureAddon(addon, cacheFolder(), say)
}

const main = async (): Promise<void> => {
  const own = process.env.MEDIASOUP_WORKER_BIN
  if (own && own !== 'later') {
    ensureAddons()
    process.stdout.write(`${own}\n`)
    return
  }
  const path = await obtain(!process.argv.includes('--build'))
  ensureAddons()
  if (recordedPath() !== path) {
    mkdirSync(dirname(pathFile), { recursive: true })
    writeFileSync(pathFile, `${path}\n`)
  }
  process.stdout.write(`${path}\n`)
}

main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error))
  process.exit(1)
})
