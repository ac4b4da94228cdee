-- Asks for sessions at random. ASK_IDS is a file of ids, a line each; ASK_PATH what comes before
-- an id; ASK_SECURE is set where a proxy would say that the customer came by https.
local requests = {}

function init()
  math.randomseed(os.time())
  if os.getenv("ASK_SECURE") then wrk.headers["X-Forwarded-Proto"] = "https" end
  for id in io.lines(os.getenv("ASK_IDS")) do
    requests[#requests + 1] = wrk.format("GET", os.getenv("ASK_PATH") .. id)
  end
end

function request()
  return requests[math.random(#requests)]
end
