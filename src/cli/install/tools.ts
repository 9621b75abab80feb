/** The tools of the fleet by set, for clients that want each named. */
export const TOOL_SETS: Record<string, readonly string[]> = {
  missions: [
    'plan_project',
    'get_plan',
    'approve_plan',
    'create_project',
    'create_mission',
    'dispatch_mission',
    'get_mission_status',
    'get_report',
    'cancel_mission',
    'wait_for_mission',
    'get_dashboard',
    'list_projects',
    'list_missions',
  ],
  workers: [
    'healthcheck',
    'create_worker',
    'get_worker_status',
    'list_workers',
    'collect_worker_result',
    'cancel_worker',
    'cleanup_worker',
  ],
}
