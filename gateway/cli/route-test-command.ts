import type { Config } from '../../config/types.ts'
import { type RouteQuery, routeText, testRoute } from '../app/route-test.ts'

/**
 * `trunkline route-test`: prints how the gateway would answer a request, as JSON if `json` is true. Returns
 * the exit code: 0 if the request would be admitted, 1 if not.
 */
export const routeTest = (config: Config, query: RouteQuery, json: boolean): number => {
  const report = testRoute(config, query)
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : routeText(query, report))
  return report.admitted ? 0 : 1
}
