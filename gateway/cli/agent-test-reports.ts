import { accessSync, closeSync, constants, existsSync, openSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { htmlReport } from '../agent-test/reports/html-report.ts'
import { jsonReport } from '../agent-test/reports/json-report.ts'
import { textReport } from '../agent-test/reports/text-report.ts'
import type { AgentTestResult } from '../agent-test/run-agent-test.ts'
import { stereoWav } from '../agent-test/sound/stereo-wav.ts'
import { escapedText } from '../core/readable-log.ts'
import { textTable } from './text-table.ts'

/** Reports of a test. */
export interface ReportOptions {
  /** Files of the reports; undefined: not written. */
  readonly json: string | undefined
  readonly html: string | undefined
  readonly wav: string | undefined
  readonly log: string | undefined
  /** Prints nothing but the failed expectations. */
  readonly quiet: boolean
}

/**
 * Throws an Error of Node if a file cannot be written, and changes none. Comes before the calls, which may
 * take long.
 */
export const checkFiles = ({ json, html, wav, log }: ReportOptions): void => {
  for (const path of [json, html, wav, log]) {
    if (path === undefined) continue
    if (existsSync(path)) closeSync(openSync(path, 'r+'))
    else accessSync(dirname(resolve(path)), constants.W_OK)
  }
}

/** Prints the result, and then writes its files. Throws an Error of Node if one cannot be written. */
export const reportResult = (
  result: AgentTestResult,
  { json, html, wav, log, quiet }: ReportOptions,
  print: (text: string) => void = (text) => process.stdout.write(text),
): void => {
  if (!quiet) print(textReport(result, textTable))
  else for (const { failures } of result.checks) for (const each of failures) print(`${escapedText(each)}\n`)
  const { sound } = result.shown
  if (json !== undefined) writeFileSync(json, jsonReport(result))
  if (html !== undefined) writeFileSync(html, htmlReport(result))
  if (wav !== undefined) writeFileSync(wav, stereoWav(sound.caller, sound.agent))
  if (log !== undefined) writeFileSync(log, result.log.map((line) => `${line}\n`).join(''))
}
