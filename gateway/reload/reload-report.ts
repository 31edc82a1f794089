import type { ConfigChange } from '../../config/changes.ts'
import { describeFault, explanationOf } from '../../config/faults.ts'
import type { ReloadResult } from './config-reload.ts'

/** Converts a result to the body that the API and the control socket send. */
export const reloadBody = ({
  outcome,
  dryRun,
  file,
  applied,
  restart,
  warnings,
  faults,
  error,
}: ReloadResult) => ({
  result: outcome,
  dry_run: dryRun,
  file,
  applied: applied.map(changeBody),
  restart_needed: restart.map((change) => ({
    ...changeBody(change),
    reason: change.rule.kind === 'restart' ? change.rule.reason : '',
  })),
  warnings,
  faults: faults.map((fault) => ({
    line: fault.line,
    column: fault.column,
    key: fault.path,
    message: explanationOf(fault),
  })),
  error: error ?? null,
})

/** Body that {@link reloadBody} returns. */
export type ReloadBody = ReturnType<typeof reloadBody>

const changeBody = ({ path, kind, before, after, hidden }: ConfigChange) => ({
  key: path,
  kind,
  ...(before !== undefined && { before }),
  ...(after !== undefined && { after }),
  ...(hidden !== undefined && { hidden }),
})

/** Exit codes of `trunkline reload`. */
export const reloadExit = { done: 0, failed: 1, invalid: 2, restartNeeded: 3, notRunning: 4 } as const

/** Returns the exit code of `trunkline reload` for a result. */
export const exitCodeOf = ({
  result,
  restart_needed: restart,
}: Pick<ReloadBody, 'result' | 'restart_needed'>): number => {
  if (result === 'invalid') return reloadExit.invalid
  if (result === 'failed') return reloadExit.failed
  return restart.length > 0 ? reloadExit.restartNeeded : reloadExit.done
}

/** Returns a result as lines for a person. */
export const reloadLines = (body: ReloadBody): readonly string[] => [
  ...body.faults.map(({ line, column, key, message }) =>
    describeFault({ file: body.file, line, column, path: key, message }),
  ),
  ...body.warnings,
  ...body.applied.map((change) => lineOf(change)),
  ...body.restart_needed.map((change) => `${lineOf(change)}  [needs a restart: ${change.reason}]`),
  summaryOf(body),
]

const lineOf = ({ key, kind, before, after, hidden }: ReloadBody['applied'][number]): string => {
  const sign = { added: '+', removed: '-', changed: '~' }[kind]
  if (hidden === 'contents') return `${sign} ${key}: (contents of the file)`
  if (hidden === 'secret') return `${sign} ${key}: (secret)`
  if (before === undefined && after === undefined) return `${sign} ${key}`
  if (kind === 'changed') return `${sign} ${key}: ${before} → ${after}`
  return `${sign} ${key}: ${after ?? before}`
}

const summaryOf = ({ result, error, applied, restart_needed: restart }: ReloadBody): string => {
  const counts = `${count(applied.length, 'change')}, ${count(restart.length, 'key')} in need of a restart`
  switch (result) {
    case 'applied':
      return `Reloaded: ${counts}.`
    case 'unchanged':
      return restart.length > 0
        ? `Reloaded: ${counts}.`
        : 'Reloaded: no key has changed. Certificates and other named files were read again.'
    case 'valid':
      return applied.length + restart.length > 0
        ? `Not applied (dry run): ${counts}.`
        : 'Dry run: nothing would change.'
    case 'invalid':
      return 'Not reloaded: the file has faults.'
    case 'failed':
      return `Not reloaded: ${error}`
  }
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
