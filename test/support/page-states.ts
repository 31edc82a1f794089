import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Rules of axe-core about colours. */
const colourRules = ['color-contrast', 'link-in-text-block']

/**
 * Looks in which each state of a page is checked. The dark look differs from the light one in colours alone:
 * its structure is not checked again.
 */
const looks = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 800, rules: undefined },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 800, rules: colourRules },
  { name: 'narrow', colorScheme: 'light', width: 390, height: 844, rules: undefined },
] as const

/** Broken rule of axe-core, as far as it is used. */
interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** Folder for pictures of all states; undefined for none. */
const folder = process.env.PAGE_PICTURES

const pathOf = (place: string, state: string, look: string): string =>
  join(place, `${state.replaceAll(' ', '-')}-${look}.png`)

/** Returns the faults that axe-core finds in the page as it is, by these rules; without them, by all. */
const faultsOf = async (page: Page, rules: readonly string[] | undefined): Promise<string[]> => {
  await page.evaluate(`window.axe ? undefined : (() => { ${axeSource} })()`)
  // A transition has colours in between.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().map((each) => each.playState === "running" && each.effect.getTiming().iterations === 1 ? each.finished : undefined))',
  )
  // The other results, which describe each element, take most of the time.
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
  const violations = (await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )) as readonly Violation[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  )
}

/** Whether the page scrolls sideways at the smallest width of a phone. */
const isTooWide = async (page: Page): Promise<boolean> => {
  await page.setViewportSize({ width: 320, height: 640 })
  return (await page.evaluate('document.documentElement.scrollWidth > 320')) as boolean
}

/**
 * Checks a state in light, dark and at the width of a phone. Returns the faults, each with its look. With
 * `PAGE_PICTURES` it also writes a picture of each look to that folder.
 */
export const faultsInAllLooks = async (page: Page, state: string): Promise<string[]> => {
  const found: string[] = []
  for (const { name, colorScheme, width, height, rules } of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height })
    found.push(...(await faultsOf(page, rules)).map((fault) => `${state}, ${name}: ${fault}`))
    if (folder) {
      mkdirSync(folder, { recursive: true })
      await page.screenshot({ path: pathOf(folder, state, name) })
    }
  }
  if (folder) {
    await page.setViewportSize({ width: 1920, height: 1080 })
    await page.screenshot({ path: pathOf(folder, state, 'large') })
  }
  if (await isTooWide(page)) found.push(`${state}: scrolls sideways at 320 px`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 800 })
  return found
}
