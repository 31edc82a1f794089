/** `scripts/fuzz composer`: damaged VP8 into the composer's addon, built with the address sanitizer. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileAddon, picturesAddon } from '../worker-build/addon.ts'

const sanitizer = [
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=undefined',
  '-U_FORTIFY_SOURCE',
  '-g',
]

/** Time after which the run is a failure, in ms. */
const maxRunMs = 30 * 60_000

/** Returns the path of a library of the compiler. Node must load the sanitizers before all others. */
const libraryOf = (name: string): string =>
  spawnSync('cc', [`-print-file-name=${name}`], { encoding: 'utf8' }).stdout.trim()

/** Runs `count` damaged frames and packets. Returns whether the addon survived without a finding. */
export const fuzzComposer = (count: number, seed: number): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-composer-'))
  try {
    const addon = join(folder, 'compose.node')
    compileAddon(picturesAddon, addon, sanitizer)
    const program = join(import.meta.dirname, 'composer-frames.ts')
    const { status, signal } = spawnSync(process.execPath, [program, addon, String(count), String(seed)], {
      stdio: 'inherit',
      timeout: maxRunMs,
      env: {
        LD_PRELOAD: ['libasan.so', 'libubsan.so', 'libstdc++.so.6'].map(libraryOf).join(' '),
        // Node frees little of its own memory at its end.
        ASAN_OPTIONS:
          'detect_leaks=0:abort_on_error=0:max_allocation_size_mb=512:allocator_may_return_null=1',
        UBSAN_OPTIONS: 'print_stacktrace=1',
      },
    })
    if (status === 0) return true
    console.error(`FAILED (${signal ?? status}), repeat it with: scripts/fuzz composer ${count} ${seed}`)
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
