import { findFreePort } from "@stepwell/testing/free-port.ts";
// @ts-expect-error: serverless-offline comes without types.
import Lambda from "serverless-offline/lambda";

/**
 * Runs the Lambda server of serverless-offline without the Serverless Framework, which is proprietary and requires a login. serverless-offline
 * uses only the few fields of the framework that are below. The server runs in a process of its own, because it writes into process.env.
 *
 * `package.json` overrides the framework, a peer dependency, with the smallest package that is in the tree anyway.
 */
const functionNames = ["echo", "nothing", "throws", "rejects", "lasts", "runsOut", "answersLarge", "answersBrokenJson"];
const provider = { name: "aws", region: "eu-west-1", runtime: "nodejs24.x" };
const framework = {
  config: { serverlessPath: "", servicePath: import.meta.dirname },
  service: { service: "tests", provider },
  serviceDir: import.meta.dirname,
};

// The port is given, because serverless-offline cannot report which port it uses.
const lambdaPort = await findFreePort();
const host = "127.0.0.1";
const lambda = new Lambda(framework, { host, lambdaPort, useInProcess: true, terminateIdleLambdaTime: 60 });
lambda.create(functionNames.map(definitionOf));
await lambda.start();
process.send?.({ endpoint: `http://${host}:${lambdaPort}` });
process.once("disconnect", () => process.exit());

function definitionOf(name: string) {
  const timeout = name === "runsOut" ? 0.05 : 10;
  return { functionKey: name, functionDefinition: { name, handler: `functions.${name}`, timeout } };
}
