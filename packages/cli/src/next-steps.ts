import { chooseService } from "./connection/chosen-service.ts";
import { findSignIn } from "./connection/stored-sign-ins.ts";
import { table } from "./output/table.ts";
import { print } from "./output/terminal.ts";

/** Prints three things to do next when `stepwell` is called without a command. They depend on whether a service is chosen. */
export function printNextSteps(): void {
  const place = chooseService(undefined).baseUrl ?? findSignIn()?.baseUrl;
  const [heading, steps] = place === undefined ? atTheBeginning : [`Stepwell. Commands go to ${place}.`, withService];
  print(heading);
  print();
  print(
    table(
      ["  Next", ""],
      steps.map(([command, what]) => [`  ${command}`, what]),
    ),
  );
  print();
  print("All commands: stepwell --help");
}

type Steps = readonly (readonly [command: string, what: string])[];

const atTheBeginning: readonly [string, Steps] = [
  "Stepwell: durable workflows, self-hosted. No service is chosen yet.",
  [
    ["stepwell dev", "start a service here, to try it out"],
    ["stepwell login --url ADDRESS", "sign in to a service that runs elsewhere"],
    ["stepwell sample > order-approval.json", "get a workflow definition to begin with"],
  ],
];

const withService: Steps = [
  ["stepwell deploy FILE", "register a workflow definition; `stepwell sample` prints one"],
  ["stepwell submit WORKFLOW --wait 30", "run it; `stepwell workflow list` shows the names"],
  ["stepwell job list", "see the jobs; `stepwell job explain ID` says why one does not move"],
];
